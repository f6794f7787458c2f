"""Damaged files for all readers: each is read or refused in sentences, in time and in memory.

    python -m tests.fuzzing --cases 1000000          # `make fuzz`: all readers; finds are kept in tests/fuzz_finds
    python -m tests.fuzzing --cases 20000 --seed 7 --reader import

A find is a file that raised something else than InputError, took longer than `MOST_S`, or whose refusal isn't one of
`is_a_refusal`. tests/test_fuzzing.py reads the finds that are kept again.
"""

import argparse
import hashlib
import json
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType

from oltpsim.calibration.fit import StepJournal, parameters_to_fit, read_calibration, read_mapping_file
from oltpsim.calibration.importers import find_runs, read_run_table
from oltpsim.calibration.records import check_record, load_record, merge_readings
from oltpsim.models.catalogue.importers import ListFacts, read_list
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.scenarios.page.uploads import save_upload
from oltpsim.scenarios.run import RunKey, Store, StoredRun, read_saved_run
from oltpsim.simulator.errors import InputError

ROOT = Path(__file__).resolve().parents[1]
SAMPLES, FINDS = ROOT / "tests" / "samples", ROOT / "tests" / "fuzz_finds"
MOST_S, MOST_MIB, MOST_BYTES = 5.0, 500, 20_000
MOST_LETTERS, MOST_LINES = 600, 30
WORDS = (
    b"0", b"-1", b"1e999", b"nan", b"null", b"{}", b"[]", b"\x00", b'"', b"\xff", b"9" * 20, b"9" * 400, b"\x1b[31m",
    b"", b"1e400", b"-0", b"true", b"NaN", b"\n", b"\t", b",", b"%", b"|", b":", b"\xe2\x80\xa8", b"\r", b"1,000.5",
    b"- ",
)  # fmt: skip


class TooSlowError(BaseException):
    """A reader that takes longer than `MOST_S`; no reader's handler catches it."""


@dataclass(frozen=True)
class Reader:
    """A reader of the project, and files that it reads."""

    seeds: tuple[Path, ...]
    read: Callable[[Path], object]


@dataclass(frozen=True)
class Find:
    """A file that a reader neither read nor refused as it should."""

    reader: str
    name: str
    content: bytes
    fault: str


def _small(*patterns: str, folder: Path = SAMPLES) -> tuple[Path, ...]:
    files = (path for pattern in patterns for path in folder.glob(pattern) if path.is_file())
    return tuple(sorted(path for path in files if path.stat().st_size < MOST_BYTES and path.suffix != ".md"))


def _import(path: Path) -> None:
    for run in find_runs([path]):
        if run.has_result:
            check_record(merge_readings(run.name, run.readings).record)


def _upload(path: Path) -> None:
    with path.open("rb") as file, tempfile.TemporaryDirectory() as folder:
        save_upload(Path(folder), [(path.name, file)])


KEY = RunKey("0123456789abcdef0123", '{"name": "of a test"}', 1)


def _saved(path: Path) -> None:
    read_saved_run(path)


def _store(path: Path) -> None:
    for name in (f"{path.name}-wal", f"{path.name}-shm"):
        path.with_name(name).unlink(missing_ok=True)
    with Store(path) as store:
        store.find(KEY)


def _table(path: Path) -> None:
    name = "ladder.csv" if path.suffix == ".yaml" else "ladder.yaml"
    other = SAMPLES / "tables" / name
    read_run_table(*((other, path) if path.suffix == ".yaml" else (path, other)))


def _list(path: Path) -> None:
    read_list(path, None, ListFacts())


def _journal(path: Path) -> None:
    StepJournal(path, "task")


@cache
def _base() -> ScenarioSpec:
    return load_scenario_file(library_files()["v20z"])


def _parameters(path: Path) -> None:
    parameters_to_fit([_base()], path, ())


def _mapping(path: Path) -> None:
    read_mapping_file(path, [])


def _made(folder: Path) -> dict[str, tuple[Path, ...]]:
    """Seeds of readers that have no sample: what the program itself writes."""
    with Store(folder / "runs.db") as store:
        store.keep([(KEY, StoredRun("refused", '{"reason": "of a test"}', b""))])
    (folder / "runs.db-claims").unlink()
    journal = folder / "steps.state"
    journal.unlink(missing_ok=True)
    steps = StepJournal(journal, "task")
    for number in range(5):
        steps.once(f"step {number}", lambda number=number: [number, 0.5, None])
    with zipfile.ZipFile(folder / "run.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in _small("pgbench/*.txt", "monitors/*.txt"):
            archive.write(path, path.name)
    saved = folder / "run.json"
    result = {"engine": "kernel", "seed": 1, "classes": []}
    text = json.dumps({"format": "oltpsim-saved-1", "scenario": _base().model_dump(mode="json"), "result": result})
    saved.write_text(text, encoding="utf-8")
    return {
        "store": (folder / "runs.db",),
        "journal": (journal,),
        "upload": (folder / "run.zip",),
        "saved": (saved,),
    }


@cache
def readers() -> dict[str, Reader]:
    """Readers by name; files that have no sample are made in the folder of seeds."""
    calibration = ROOT / "calibration"
    runs = _small("*/*.r1.yaml", "*.yaml", folder=calibration / "runs")[:12]
    outputs = [path for path in _small("**/*") if path.parent.name not in {"tables", "catalogue"}]
    made = _made(Path(tempfile.mkdtemp(prefix="oltpsim-fuzz-")))
    return {
        "import": Reader(tuple(outputs) + _small("import/*", folder=FINDS), _import),
        "record": Reader(runs + _small("record/*", folder=FINDS), load_record),
        "table": Reader(_small("tables/*"), _table),
        "mapping": Reader(_small("mappings/*", folder=calibration / "runs"), _mapping),
        "scenario": Reader(_small("*.yaml", folder=ROOT / "scenarios" / "library"), load_scenario_file),
        "parameters": Reader(_small("parameters.yaml", folder=calibration / "fit"), _parameters),
        "list": Reader(_small("catalogue/*"), _list),
        "calibration": Reader((calibration / "pgbench" / "model.json",), read_calibration),
        "store": Reader(made["store"], _store),
        "journal": Reader(made["journal"], _journal),
        "upload": Reader(made["upload"], _upload),
        "saved": Reader(made["saved"], _saved),
    }


def damaged(content: bytes, draw: random.Random) -> bytes:
    """The content with one to five changes: a byte, a stretch that is lost, doubled, moved or overwritten, a cut."""
    found = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 5))):
        if not found:
            break
        first = draw.randrange(len(found))
        end = min(len(found), first + draw.randrange(1, 60))
        kind = draw.randrange(8)
        if kind == 0:
            found[first] = draw.randrange(256)
        elif kind == 1:
            del found[first:end]
        elif kind == 2:
            found[first:first] = found[first:end]
        elif kind == 3:
            found[first:end] = draw.choice(WORDS)
        elif kind == 4:
            place = draw.randrange(len(found))
            found[place:place] = found[first:end]
        elif kind == 5:
            del found[first:]
        else:
            _replace_number(found, draw)
    return bytes(found)


def _replace_number(found: bytearray, draw: random.Random) -> None:
    """Another word in the place of a number, or a line of it twice."""
    digits = [at for at, byte in enumerate(found) if 48 <= byte <= 57]
    if digits:
        first = end = draw.choice(digits)
        while end < len(found) and 48 <= found[end] <= 57:
            end += 1
        found[first:end] = draw.choice(WORDS)


def is_a_refusal(message: str) -> bool:
    """Whether a refusal is made of sentences: short lines without control characters."""
    lines = message.split("\n")
    return len(lines) <= MOST_LINES and all(line.isprintable() and len(line) <= MOST_LETTERS for line in lines)


@contextmanager
def _bounded() -> Iterator[None]:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlowError

    former = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, MOST_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


def fault_of(reader: Reader, path: Path) -> str | None:
    """Fault that a file shows in a reader; None if it is read, or refused as it should; empty for a refusal."""
    try:
        with _bounded():
            reader.read(path)
    except InputError as error:
        return "" if is_a_refusal(str(error)) else f"no sentence: {str(error)[:700]!r}"
    except TooSlowError:
        return f"longer than {MOST_S:g} s"
    except Exception as error:  # noqa: BLE001 - the faults that are looked for
        frames = traceback.extract_tb(error.__traceback__)
        place = next((frame for frame in reversed(frames) if str(ROOT) in frame.filename), frames[-1])
        return f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}: {str(error)[:120]}"
    return None


def fuzz(name: str, cases: int, seed: int, folder: Path) -> tuple[list[Find], Counter[str]]:
    """Finds of so many damaged files for a reader, one for each fault; how many were read, refused and found."""
    reader, draw = readers()[name], random.Random(f"{seed} {name}")  # noqa: S311 - no secret
    contents = [(path.name, path.read_bytes()) for path in reader.seeds]
    finds: dict[str, Find] = {}
    counts: Counter[str] = Counter()
    for _ in range(cases):
        file_name, content = draw.choice(contents)
        content = damaged(content, draw)
        path = folder / file_name
        path.write_bytes(content)
        fault = fault_of(reader, path)
        counts["read" if fault is None else "refused" if not fault else "found"] += 1
        if fault:
            kind = fault.partition(": ")[0]
            if kind not in finds or len(content) < len(finds[kind].content):
                finds[kind] = Find(name, file_name, content, fault)
    return list(finds.values()), counts


def keep(find: Find) -> Path:
    """Write a find into the corpus."""
    digest = hashlib.sha256(find.content).hexdigest()[:8]
    stem, dot, suffix = find.name.partition(".")
    path = FINDS / find.reader / f"{stem}-{digest}{dot}{suffix}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(find.content)
    return path


def main(words: Sequence[str]) -> int:
    """Fuzz all readers or one, and keep what is found; 1 if something is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reader", choices=list(readers()), action="append")
    options = parser.parse_args(words)
    names = options.reader or list(readers())
    found = 0
    for name in names:
        share = options.cases // (2 * len(names)) + (options.cases // 2 if name == "import" else 0)
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            finds, counts = fuzz(name, options.cases if len(names) == 1 else share, options.seed, Path(folder))
        seconds = time.perf_counter() - began
        mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        said = ", ".join(f"{count:,} {what}" for what, count in sorted(counts.items()))
        print(f"{name}: {said}; {sum(counts.values()) / seconds:,.0f} a second, {mib:,.0f} MiB")  # noqa: T201
        for find in finds:
            print(f"  {find.fault}: {keep(find).relative_to(ROOT)}")  # noqa: T201
        found += len(finds)
        if mib > MOST_MIB:
            print(f"  more than {MOST_MIB} MiB")  # noqa: T201
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
