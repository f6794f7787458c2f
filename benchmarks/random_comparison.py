"""The analytic engine against kept runs of the kernel (random_runs.py): tables, and a JSON line for each system.

`python -m benchmarks.random_comparison` reads the kept scenarios and draws none, so that any checkout's analytic engine
can be held to the same runs.
"""

import argparse
import json
import math
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from oltpsim.models.wiring import build
from oltpsim.scenarios.run import read_saved_run
from oltpsim.simulator.analytic import doubts, result_of, solved_case
from oltpsim.simulator.errors import InputError, InternalError
from oltpsim.simulator.form import System
from oltpsim.simulator.results import NOT_STEADY, DeviceResult, Result, main_class_of
from oltpsim.simulator.results.recording import student_t_factor

OUT = Path(__file__).resolve().parents[1] / "out"
SEED = 1
SETS = ("random", "pools", "page-cleaners", "postgresql")
WIDEST = 0.02
"""of what chance does to a rate, relative: runs with more are made again over more checkpoints"""
PARTS, LEVEL = 20, 0.95
"""of a run, from which chance is taken, and how much of it"""
FLAG = "Confirm with --engine kernel"
FAR, MEDIAN_GOAL, P95_GOAL = 0.30, 0.03, 0.10
LEAST_PER_TRANSACTION, LEAST_UTILISATION = 0.05, 0.05
"""reads, writes and misses for each transaction, and utilisations, below which errors are relative to this"""
Pair = tuple[float, float]
"""the kernel's figure and the analytic engine's"""


@dataclass(frozen=True)
class Compared:
    """One system by both engines; pairs are the kernel's figure and the analytic engine's, None where there is none."""

    kind: str
    number: int
    rate_per_min: Pair
    rate_error: float
    rate_interval: float
    """width of the kernel's, relative to its mean"""
    transactions_per_s: float
    """of the kernel"""
    reads_per_s: Pair
    writes_per_s: Pair
    pool_hit_ratio: Pair
    page_cache_hit_ratio: Pair | None
    """None with direct I/O, and where the pool misses less than counts"""
    cpu_utilisation: Pair
    data_utilisation: Pair
    log_utilisation: Pair | None
    """of a device that the log has to itself"""
    p95_s: Pair | None
    """of the main class; None where the analytic engine gives none"""
    flags: list[str]
    kernel_warnings: list[str]
    solved_ms: float
    """CPU time of the analytic engine, its system built"""
    same_system: bool
    """whether the kernel's run was of the very system that is built now"""


def relative_width(result: Result) -> float:
    """What chance does to a counted rate, by the rate: a t interval from differences of neighbouring parts.

    Also of runs that aren't steady: both engines answer for the counted interval.
    """
    rates = np.array(result.series.values[result.series.rate_key])
    counted = rates[int(result.warm_up_s // result.series.step_s) :]
    parts = np.array([part.mean() for part in np.array_split(counted, min(PARTS, counted.size))])
    if parts.size < 2 or result.rate_per_min.mean <= 0:
        return math.inf
    error = math.sqrt(float(np.square(np.diff(parts)).mean()) / 2.0 / parts.size)
    return 2.0 * student_t_factor(parts.size - 1, LEVEL) * error / result.rate_per_min.mean


def compared(file: Path) -> Compared:
    """A kept run and what the analytic engine says of it. Raises InputError, InternalError as this does."""
    saved = read_saved_run(file)
    system = build(saved.scenario)
    began = time.process_time()
    case = solved_case(system)
    analytic = result_of(case, SEED, doubts(case))
    return compared_results(file, saved.result, system, analytic, 1e3 * (time.process_time() - began))


def compared_results(file: Path, kernel: Result, system: System, analytic: Result, solved_ms: float) -> Compared:
    """Figures of one system by both engines."""
    number, _, kind = file.stem.partition("-")
    both = (kernel, analytic)

    def pair(figure: Iterable[float]) -> Pair:
        first, second = figure
        return float(first), float(second)

    data = [_data_devices(system, result) for result in both]
    rates = pair(result.rate_per_min.mean for result in both)
    log = system.storage.log_device
    own_log = log >= system.storage.data_devices
    pool, transactions = kernel.caches[0], sum(one.completed for one in kernel.classes)
    often_missed = not system.direct_io and pool.references - pool.hits > LEAST_PER_TRANSACTION * transactions
    p95_s = [main_class_of(result).p95_s for result in both]
    return Compared(
        kind=kind.replace("-", " "),
        number=int(number),
        rate_per_min=rates,
        rate_error=rates[1] / rates[0] - 1.0,
        rate_interval=relative_width(kernel),
        transactions_per_s=kernel.transactions_per_s,
        reads_per_s=pair(sum(one.reads_per_s for one in devices) for devices in data),
        writes_per_s=pair(sum(one.writes_per_s for one in devices) for devices in data),
        pool_hit_ratio=pair(result.caches[0].hit_ratio for result in both),
        page_cache_hit_ratio=pair(result.caches[1].hit_ratio for result in both) if often_missed else None,
        cpu_utilisation=pair(result.cpu.utilisation for result in both),
        data_utilisation=pair(sum(one.utilisation for one in devices) / len(devices) for devices in data),
        log_utilisation=pair(result.devices[log].utilisation for result in both) if own_log else None,
        p95_s=pair(one or 0.0 for one in p95_s) if all(one and math.isfinite(one) for one in p95_s) else None,
        flags=[warning for warning in analytic.warnings if FLAG in warning],
        kernel_warnings=kernel.warnings,
        solved_ms=solved_ms,
        same_system=kernel.model_hash == system.digest(),
    )


def _data_devices(system: System, result: Result) -> list[DeviceResult]:
    """Data devices, with what the log asks of one that it shares."""
    return result.devices[: system.storage.data_devices]


def compared_or_failed(file: Path) -> Compared | str:
    """As `compared`; a sentence where the analytic engine gives no answer."""
    try:
        return compared(file)
    except (InputError, InternalError) as error:
        return f"{file.stem}: {type(error).__name__}: {error}"


def relative(pair: Pair, least: float = 0.0) -> float:
    """Error of the analytic figure, relative to the kernel's or to the least that counts."""
    kernel, analytic = pair
    return (analytic - kernel) / max(kernel, least, 1e-12)


def errors_of(rows: Sequence[Compared]) -> dict[str, list[float]]:
    """Errors of each figure, signed and relative; figures that are next to nothing count by what they'd be at least."""
    per_s = [LEAST_PER_TRANSACTION * one.transactions_per_s for one in rows]
    caches = [one for one in rows if one.page_cache_hit_ratio is not None]
    own_logs = [one.log_utilisation for one in rows if one.log_utilisation is not None]
    return {
        "rate": [one.rate_error for one in rows],
        "reads": [relative(one.reads_per_s, least) for one, least in zip(rows, per_s, strict=True)],
        "writes": [relative(one.writes_per_s, least) for one, least in zip(rows, per_s, strict=True)],
        "pool hit ratio": [relative(one.pool_hit_ratio) for one in rows],
        "page cache hit ratio": [relative(one.page_cache_hit_ratio or (1, 1), LEAST_UTILISATION) for one in caches],
        "CPU utilisation": [relative(one.cpu_utilisation, LEAST_UTILISATION) for one in rows],
        "data devices' utilisation": [relative(one.data_utilisation, LEAST_UTILISATION) for one in rows],
        "log's utilisation": [relative(pair, LEAST_UTILISATION) for pair in own_logs],
        "p95": [relative(one.p95_s) for one in rows if one.p95_s is not None],
    }


def line(name: str, errors: Sequence[float], *more: str) -> str:
    """Errors as a line of a Markdown table."""
    if not errors:
        return f"| {name} | 0 |" + " |" * (4 + len(more))
    sizes = np.quantile(np.abs(errors), [0.5, 0.9, 0.95])
    cells = [f"{100 * size:.1f} %" for size in sizes] + [f"{100 * float(np.median(errors)):+.1f} %", *more]
    return f"| {name} | {len(errors)} | {' | '.join(cells)} |"


def median_and_95(errors: Sequence[float]) -> str:
    """Of the sizes of errors, in per cent; empty without any."""
    return ", ".join(f"{100 * size:.1f}" for size in np.quantile(np.abs(errors), [0.5, 0.95])) if errors else ""


HEAD = "| {} | number | median error | 90 % | 95 % | median with sign |"


def rate_table(rows: Sequence[Compared]) -> list[str]:
    """Errors of the rate by kind and over all, as lines of a table."""
    kinds = kinds_of(rows)
    text = [HEAD.format("rate") + " beyond the fit |", "|---" + "|---:" * 6 + "|"]
    for kind in [*kinds, "all"]:
        of_kind = [one for one in rows if kind in (one.kind, "all")]
        flagged = sum(bool(one.flags) for one in of_kind) / len(of_kind)
        text.append(line(kind, [one.rate_error for one in of_kind], f"{100 * flagged:.0f} %"))
    exact = [one for one in rows if one.rate_interval <= WIDEST]
    text.append(line("all whose rate the kernel knows", [one.rate_error for one in exact], ""))
    steady = [one for one in rows if not any(warning.startswith(NOT_STEADY) for warning in one.kernel_warnings)]
    text.append(line("all whose kernel's run is steady", [one.rate_error for one in steady], ""))
    return text


def kinds_of(rows: Sequence[Compared]) -> list[str]:
    """Kinds of systems in the order of their numbers."""
    return list(dict.fromkeys(one.kind for one in sorted(rows, key=lambda one: one.number)))


def tables(rows: Sequence[Compared]) -> str:
    """Errors of the rate by kind, of every figure over all, and the systems that are far off without a flag."""
    kinds = kinds_of(rows)
    text = rate_table(rows)
    text += ["", HEAD.format("figure, over all"), "|---" + "|---:" * 5 + "|"]
    text += [line(name, errors) for name, errors in errors_of(rows).items()]
    figures = list(errors_of([]))
    text += ["", f"| median, 95 % | {' | '.join(figures)} |", "|---" + "|---:" * len(figures) + "|"]
    for kind in kinds:
        by_figure = errors_of([one for one in rows if one.kind == kind])
        text.append(f"| {kind} | {' | '.join(median_and_95(errors) for errors in by_figure.values())} |")
    median, p95 = np.quantile(np.abs([one.rate_error for one in rows]), [0.5, 0.95])
    for name, value, goal in (("median", median, MEDIAN_GOAL), ("95th percentile", p95, P95_GOAL)):
        verdict = "met" if value <= goal else "missed"
        text += ["", f"Rate, {name}: {100 * value:.2f} %; goal {100 * goal:.0f} % or less: {verdict}."]
    times = np.array([one.solved_ms for one in rows])
    text += [
        "",
        f"CPU time from the system to the result: median {np.median(times):.2f} ms, most {times.max():.1f} ms.",
    ]
    others = sum(not one.same_system for one in rows)
    text += ["", f"Systems that this checkout builds otherwise than the one whose kernel ran: {others}."]
    return "\n".join(text)


def numbers_of(words: str) -> range:
    """`0:400` as a range."""
    first, _, last = words.partition(":")
    return range(int(first), int(last)) if last else range(int(first), int(first) + 1)


def store_of(name: str) -> Path:
    """Folder of the kept runs of a set."""
    return OUT / ("analytic" if name == "random" else f"analytic-{name}")


def main() -> None:
    """Compare the runs that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.random_comparison", description=__doc__)
    parser.add_argument(
        "--set", dest="name", default="random", choices=["random", "pools", "page-cleaners", "postgresql"]
    )
    parser.add_argument("--numbers", type=numbers_of, default=None, metavar="FIRST:LAST", help="all that are kept")
    parser.add_argument("--store", type=Path, default=None, help="folder of the kept runs (out/analytic)")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--lines", type=Path, help="file for the JSON lines")
    words = parser.parse_args()
    files = sorted((words.store or store_of(words.name)).glob("*.json"))
    if words.numbers is not None:
        files = [file for file in files if int(file.stem.partition("-")[0]) in words.numbers]
    with ProcessPoolExecutor(words.workers, get_context("spawn")) as pool:
        found = list(pool.map(compared_or_failed, files, chunksize=8))
    rows = [one for one in found if isinstance(one, Compared)]
    if words.lines:
        words.lines.write_text("".join(json.dumps(asdict(one)) + "\n" for one in rows), encoding="utf-8")
    failed = [one for one in found if isinstance(one, str)]
    print(tables(rows))
    print("\n".join(["", f"No answer by the analytic engine: {len(failed)}.", *failed]))


if __name__ == "__main__":
    main()
