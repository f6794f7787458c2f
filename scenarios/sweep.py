"""Sweeps: one scenario over a grid of values of one or more of its fields.

A sweep is a frozen value, the same whatever the number of workers. With a store each run is written the
moment it finishes, under a name made of its content, so a sweep that was killed goes on where it was.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from models.specs import ScenarioSpec
from scenarios import saved
from scenarios.files import load
from scenarios.progress import Display
from scenarios.runs import Task, pool, run_all
from simulator.errors import InputError
from simulator.results import Result

FORMAT = "oltpsim-sweep-1"
MOST_POINTS = 10_000


@dataclass(frozen=True)
class Axis:
    """A field (dotted key) and the values it takes, as they would be written in a scenario file."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """One point of the grid. `reason` says why it could not be run; every figure is None then."""

    values: tuple[str, ...]
    reason: str | None = None
    rate_per_min: float | None = None
    low_per_min: float | None = None
    high_per_min: float | None = None
    bottleneck: str | None = None
    cpu_utilisation: float | None = None
    disk_utilisation: float | None = None
    hit_ratios: dict[str, float] | None = None
    model_hash: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def limit(self) -> str:
        """The bottleneck; which one of several equal disks it is makes no difference."""
        return re.sub(r"^disk \d+$", "disk", self.bottleneck or "")


@dataclass(frozen=True)
class Sweep:
    """All points in grid order, the last axis fastest; fewer than the grid has after an interruption.

    `engine` names every engine that answered.
    """

    scenario: str
    axes: tuple[Axis, ...]
    seed: int
    replications: int
    engine: str
    versions: dict[str, str]
    confidence: float
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Point:
    """One point of the grid before it is run: a scenario, or why there is none."""

    values: tuple[str, ...]
    scenario: ScenarioSpec | InputError


def parse_axis(text: str, option: str = "--vary") -> Axis:
    """Read `key=a,b,c` or `key=start:stop:step` (numbers, `stop` included). Raises InputError."""
    key, separator, values = text.partition("=")
    key = key.strip()
    if not separator or not key or not values.strip():
        raise InputError(f"{option} {text!r}: expected key=a,b,c or key=start:stop:step")
    chosen = tuple(value.strip() for value in _split(values))
    if len(chosen) == 1 and values.count(":") == 2 and "{" not in values:
        chosen = _range(f"{option} {text!r}", values)
    if "" in chosen or len(set(chosen)) < len(chosen):
        raise InputError(f"{option} {text!r}: every value must be there once")
    return Axis(key, chosen)


def _split(values: str) -> list[str]:
    """The values between commas; commas inside brackets belong to a value."""
    parts, depth = [""], 0
    for letter in values:
        depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _range(where: str, values: str) -> tuple[str, ...]:
    try:
        start, stop, step = (Decimal(part.strip()) for part in values.split(":"))
    except InvalidOperation as error:
        raise InputError(f"{where}: start, stop and step must be numbers") from error
    if not (start.is_finite() and stop.is_finite() and step.is_finite()) or step <= 0 or stop < start:
        raise InputError(f"{where}: step must be above 0 and stop not below start")
    if (stop - start) / step >= MOST_POINTS:
        raise InputError(f"{where}: more than {MOST_POINTS:,} values")
    count = int((stop - start) / step) + 1
    return tuple(f"{(start + step * number).normalize():f}" for number in range(count))


def grid(scenario: Path, axes: Sequence[Axis], overrides: Sequence[str]) -> list[Point]:
    """The scenario of every point. Raises InputError if no point of the grid is a valid scenario."""
    load(scenario, overrides)
    keys = [axis.key for axis in axes]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise InputError(f"--vary {twice[0]}: stands twice; give all its values in one --vary")
    if math.prod(len(axis.values) for axis in axes) > MOST_POINTS:
        raise InputError(f"--vary: the grid has more than {MOST_POINTS:,} points; give fewer values")
    points: list[Point] = []
    for values in itertools.product(*(axis.values for axis in axes)):
        settings = [f"{axis.key}={value}" for axis, value in zip(axes, values, strict=True)]
        try:
            points.append(Point(values, load(scenario, (*overrides, *settings))))
        except InputError as error:
            points.append(Point(values, error))
    errors = [point.scenario for point in points if isinstance(point.scenario, InputError)]
    if len(errors) == len(points):
        raise errors[0]
    return points


class Runner:
    """Runs the points of a grid; keeps what is done so that an interrupted sweep can still be shown."""

    def __init__(self, points: Sequence[Point], seed: int, replications: int, store: Path | None) -> None:
        self.points, self.seed, self.replications, self.store = points, seed, replications, store
        self._outcomes: dict[tuple[int, int], Result | InputError] = {}
        self.reused = 0
        self.damaged: list[Path] = []

    def run(self, workers: int, display: Display) -> None:
        """Run what is not in the store yet."""
        wanted: list[tuple[int, int]] = []
        tasks: list[Task] = []
        for number, point in enumerate(self.points):
            if isinstance(point.scenario, InputError):
                self._outcomes[number, 0] = point.scenario
                continue
            for seed in range(self.seed, self.seed + self.replications):
                stored = self._stored(point.scenario, seed)
                if stored is not None:
                    self._outcomes[number, seed - self.seed] = stored
                    self.reused += 1
                else:
                    wanted.append((number, seed - self.seed))
                    tasks.append(Task(point.scenario, seed))
        with closing(run_all(tasks, workers, display)) as outcomes:
            for number, outcome in outcomes:
                if self.store is not None and not isinstance(outcome, InputError):
                    task = tasks[number]
                    path = self._path(self.store, task.scenario, task.seed)
                    saved.write(path, saved.SavedRun(task.scenario, outcome))
                self._outcomes[wanted[number]] = outcome

    @property
    def wanted(self) -> int:
        """How many runs the grid asks for; points without a valid scenario need none."""
        return self.replications * sum(isinstance(point.scenario, ScenarioSpec) for point in self.points)

    @property
    def finished(self) -> int:
        """How many runs have a result."""
        return sum(isinstance(outcome, Result) for outcome in self._outcomes.values())

    def sweep(self, scenario: str, axes: Sequence[Axis]) -> Sweep:
        """What is done so far, in grid order. Raises InputError if no point could be run."""
        rows: list[Row] = []
        example: Result | None = None
        engines: list[str] = []
        for number, point in enumerate(self.points):
            outcomes = [self._outcomes.get((number, replication)) for replication in range(self.replications)]
            refused = next((outcome for outcome in outcomes if isinstance(outcome, InputError)), None)
            results = [outcome for outcome in outcomes if isinstance(outcome, Result)]
            if refused is not None:
                rows.append(Row(point.values, reason=str(refused)))
            elif len(results) == self.replications:
                example = results[0]
                engines += [result.engine for result in results]
                rows.append(_row(point.values, pool(results)))
        if example is None:
            reasons = "; ".join(sorted({row.reason for row in rows if row.reason}))
            raise InputError(f"no point of the sweep could be run: {reasons or 'none was finished'}")
        return Sweep(
            scenario=scenario,
            axes=tuple(axes),
            seed=self.seed,
            replications=self.replications,
            engine=", ".join(dict.fromkeys(engines)),
            versions=example.versions,
            confidence=example.rate_per_min.confidence,
            rows=tuple(rows),
        )

    def _stored(self, scenario: ScenarioSpec, seed: int) -> Result | None:
        if self.store is None:
            return None
        path = self._path(self.store, scenario, seed)
        if not path.exists():
            return None
        try:
            return saved.read(path).result
        except InputError:
            self.damaged.append(path)
            return None

    @staticmethod
    def _path(store: Path, scenario: ScenarioSpec, seed: int) -> Path:
        return store / f"{saved.content_hash(scenario, seed)}.json"


def _row(values: tuple[str, ...], result: Result) -> Row:
    data_devices = [device for device in result.devices if device.reads_per_s > 0] or result.devices
    return Row(
        values=values,
        rate_per_min=result.rate_per_min.mean,
        low_per_min=result.rate_per_min.low,
        high_per_min=result.rate_per_min.high,
        bottleneck=result.bottleneck.name,
        cpu_utilisation=result.cpu.utilisation,
        disk_utilisation=max((device.utilisation for device in data_devices), default=0.0),
        hit_ratios={cache.name: cache.hit_ratio for cache in result.caches},
        model_hash=result.model_hash,
        warnings=(*result.warnings, *(f"broken law: {law.name}; do not use this" for law in result.broken_laws)),
    )


def to_json(sweep: Sweep) -> str:
    """The sweep as canonical JSON."""
    return json.dumps({"format": FORMAT, **asdict(sweep)}, sort_keys=True, indent=1, allow_nan=False) + "\n"


def from_json(text: str, where: str = "sweep") -> Sweep:
    """Read what `to_json` wrote. Raises InputError for anything else."""
    try:
        data: dict[str, Any] = json.loads(text)
        found = data.pop("format")
        axes = tuple(Axis(axis["key"], tuple(axis["values"])) for axis in data.pop("axes"))
        lists = ("values", "warnings")
        rows = tuple(Row(**{**row, **{key: tuple(row.get(key, ())) for key in lists}}) for row in data.pop("rows"))
        sweep = Sweep(axes=axes, rows=rows, **data)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{where}: not a sweep of this program: {error}") from error
    if found != FORMAT:
        raise InputError(f"{where}: format is {found!r}, expected {FORMAT!r}")
    return sweep


def to_csv(sweep: Sweep) -> str:
    """One line per point with a header; empty fields where a point could not be run."""
    ratios = _cache_names(sweep)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    header = [
        "rate_per_min",
        "low_per_min",
        "high_per_min",
        "bottleneck",
        "cpu_utilisation",
        "disk_utilisation",
    ]
    keys = [axis.key for axis in sweep.axes]
    run = {"seed": sweep.seed, "replications": sweep.replications, "engine": sweep.engine}
    if "engine" in keys:  # whose column says for each row which it was
        del run["engine"]
    tail = ["version", "model_hash", "reason", "warnings"]
    writer.writerow([*keys, *header, *(f"{name} hit_ratio" for name in ratios), *run, *tail])
    version = sweep.versions.get("oltpsim", "")
    for row in sweep.rows:
        figures = [getattr(row, name) for name in header]
        hits = [(row.hit_ratios or {}).get(name) for name in ratios]
        origin = [version, row.model_hash, row.reason, "; ".join(row.warnings)]
        writer.writerow([*row.values, *figures, *hits, *run.values(), *origin])
    return out.getvalue()


def to_text(sweep: Sweep) -> str:
    """A table for people: one line per point, then the warnings by their numbers, then where it comes from."""
    ratios = _cache_names(sweep)
    header = [*(axis.key.rpartition(".")[2] for axis in sweep.axes), "new orders/min"]
    header += [
        f"{sweep.confidence:.0%} interval",
        "bottleneck",
        "cpu",
        "disk",
        *(f"{name} hits" for name in ratios),
    ]
    lines = [header]
    for row in sweep.rows:
        if row.reason is not None:
            lines.append([*row.values, "-"])
            continue
        low, high, cpu, disk = row.low_per_min, row.high_per_min, row.cpu_utilisation, row.disk_utilisation
        figures = [f"{row.rate_per_min:,.0f}", f"{low:,.0f} .. {high:,.0f}", row.limit]
        hits = [f"{(row.hit_ratios or {}).get(name, 0.0):.1%}" for name in ratios]
        lines.append([*row.values, *figures, f"{cpu:.0%}", f"{disk:.0%}", *hits])
    widths = [max(len(line[i]) for line in lines if i < len(line)) for i in range(len(header))]
    text = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=False)) for line in lines]
    warnings = list(dict.fromkeys(warning for row in sweep.rows for warning in row.warnings))
    for number, row in enumerate(sweep.rows, start=1):
        if row.reason is not None:
            text[number] += f"  not run: {row.reason}"
        if row.warnings:
            text[number] += "  warning " + ", ".join(str(warnings.index(warning) + 1) for warning in row.warnings)
    text += [f"warning {number}: {warning}" for number, warning in enumerate(warnings, start=1)]
    version = sweep.versions.get("oltpsim", "?")
    seeds = f"seed {sweep.seed}"
    if sweep.replications > 1:
        seeds = f"seeds {sweep.seed}..{sweep.seed + sweep.replications - 1}"
    hashes = [row.model_hash for row in sweep.rows if row.model_hash]
    models = hashes[0] if len(set(hashes)) == 1 else f"{hashes[0]} .. {hashes[-1]}"
    text.append(f"oltpsim {version} · engine {sweep.engine} · {seeds} · models {models}")
    return "\n".join(text) + "\n"


def _cache_names(sweep: Sweep) -> list[str]:
    names = [name for row in sweep.rows for name in (row.hit_ratios or {})]
    return list(dict.fromkeys(names))
