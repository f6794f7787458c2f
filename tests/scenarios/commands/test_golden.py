"""What is said to bad input: hundreds of broken files and options, each refused with a sentence that is written down.

Each sentence was read: it tells file or option, key, what came, what is allowed. After a change that is meant:

    .venv/bin/python tests/scenarios/commands/test_golden.py
"""

import contextlib
import io
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import yaml

from oltpsim.scenarios.commands.cli import main

HERE = Path(__file__).resolve()
ROOT = HERE.parents[3]
GOLDEN = HERE.parents[2] / "golden" / "refusals.json"
REMEDY = "if the change is meant, run: .venv/bin/python tests/scenarios/commands/test_golden.py"
SAMPLES = ROOT / "tests" / "samples"
TINY = (ROOT / "tests" / "scenarios" / "tiny.yaml").read_text(encoding="utf-8")
RECORD = (ROOT / "calibration" / "runs" / "postgres15_go-tpc_in_memory.yaml").read_text(encoding="utf-8")
MODEL = (ROOT / "calibration" / "published" / "model.json").read_text(encoding="utf-8")
TABLE = (SAMPLES / "tables" / "ladder.csv").read_text(encoding="utf-8")
COLUMNS = (SAMPLES / "tables" / "ladder.yaml").read_text(encoding="utf-8")
BAD_INPUT = 2
LEAST_OF_A_KIND, LEAST = 10, 300


class Refusal(NamedTuple):
    """A command line, and the files that are written for it beforehand."""

    kind: str
    words: tuple[str, ...]
    files: dict[str, str | bytes]


def of_files(kind: str, name: str, words: str, texts: Sequence[str | bytes]) -> Iterator[Refusal]:
    """The same command on each of the texts."""
    for text in texts:
        yield Refusal(kind, tuple(words.split()), {name: text})


def of_words(kind: str, *lines: str, files: Mapping[str, str | bytes] | None = None) -> Iterator[Refusal]:
    """Command lines whose words are between bars where they hold a space."""
    for line in lines:
        parts = line.split("|")
        words = [word for at, part in enumerate(parts) for word in ([part] if at % 2 else part.split())]
        yield Refusal(kind, tuple(words), dict(files or {}))


def changed(text: str, *changes: tuple[str, Any]) -> Iterator[str]:
    """A document as JSON with one value changed below dotted keys, or taken out (None)."""
    for key, value in changes:
        document = json.loads(text) if text.startswith("{") else yaml.safe_load(text)
        *path, last = key.split(".")
        here = document
        for word in path:
            here = here[word]
        if value is None:
            del here[last]
        else:
            here[last] = value
        yield json.dumps(document)


def replaced(text: str, *pairs: tuple[str, str]) -> Iterator[str]:
    """The text with the first place of each replaced; each of them must be there."""
    for old, new in pairs:
        assert old in text
        yield text.replace(old, new, 1)


def scenarios() -> Iterator[Refusal]:
    texts: list[str | bytes] = [
        "", "[]", "- a\n- b", "42", "name: x", "name: [", "\tname: x", b"\xff\xfe\x00", "a: &a [*a]",
        TINY + "name: again\n", TINY + "extra: 1\n", "machine: no-such-machine\n", "x: " + "[" * 3000,
        '!!python/object/apply:os.system ["true"]', "a: " + "x" * 200_000,
        "{name: x, machine: sunfire-v20z, operating_system: solaris-10, database: virtuoso-9, workload: go-tpc}",
    ]  # fmt: skip
    texts += replaced(
        TINY, ("cores: 1", "cores: 0"), ("cores: 1", "cores: 1.5"), ("cores: 1", 'cores: "many"'),
        ("cores: 1", "cores: .nan"), ("memory_gib: 1\n", "memory_gib: -1\n"), ("memory_gib: 1\n", "memory_gib: .inf\n"),
        ("memory_gib: 1\n", "memory_gib: 4 ms\n"), ("memory_gib: 1\n", "memory_gib: true\n"),
        ("rpm: 10000", "rmp: 10000"), ("rpm: 10000\n", "rpm: 10000\n      rpm: 5400\n"),
        ("kind: rotating", "kind: rotatng"), ("kind: rotating", "kind: ssd"), ("stock_level: 0.04", "stock_level: 0.5"),
        ("warehouses: 1", "warehouses: 0"), ("warehouses: 1", "warehouses: 99999999999"), ("clients: 2", "clients: 0"),
        ("kind: closed", "kind: half-open"), ("start: warm", "start: lukewarm"), ("duration_s: 15", "duration_s: 0"),
        ("duration_s: 15", "duration_s: 1 fortnight"), ("io: buffered", "io: odirect"), ("page_kib: 8", "page_kib: 7"),
        ("buffers: 2000", "buffers: 2000000000"), ('source: "assumption: for tests"', ""),
        ("capacity_gib: 70", "capacity_gib: 0.001"), ("share_of_path: 0.1", "share_of_path: 1.1"),
        ("dirty_low_fraction: 0.25", "dirty_low_fraction: 0.75"), ("queue_depth: 8", "queue_depth: 8 8"),
        ("seek_full_stroke_ms: 10", "seek_full_stroke_ms: 1"),
    )  # fmt: skip
    yield from of_files("scenario", "s.yaml", "run s.yaml -q", texts)
    yield from of_words("scenario", "run none.yaml", "run .", "run v20", "run /dev/null")


SETTINGS = (
    "cores", "=1", "machine.cpu.cores=", "machine.cpu.cores=two", "machine.cpu=2", "machine.cpu.cores.x=2",
    "machine..cores=2", "machine.disks.disk=nvm", "machine.disks.disk=nvme ssd", "database=oracle 30",
    "database.pool.buffers=12 GB", "interval.duration_s=-5", "interval.duration_s=1 parsec",
    "workload.mix.new_order=0.9", "workload.arrivals={kind: open}", "workload.arrivals.kind=open",
    "machine.memory_gib={", "engine=", "name=", "machine.disks.count=1e9", "job=load", "sampling_fraction=0",
    "sampling_fraction=2", "measured.role=best", "engine=analytical",
)  # fmt: skip


def settings() -> Iterator[Refusal]:
    for text in SETTINGS:
        yield Refusal("--set", ("run", "tiny.yaml", "-q", "--set", text), {"tiny.yaml": TINY})


def saved_runs(saved: str) -> Iterator[Refusal]:
    texts = [
        "", "{}", "[]", "null", '{"format":"oltpsim-saved-1"}', '{"format":"oltpsim-saved-2"}',
        '{"format": "oltpsim-saved-1", "scenario": 1}', saved[:500], '{"a":' * 2000, '{"format": NaN}', "\0\1",
    ]  # fmt: skip
    texts += changed(
        saved, ("scenario", None), ("result", None), ("result.classes", []), ("scenario.machine.cpu.cores", -1),
        ("result.engine", "abacus"), ("result.extra", 1), ("result.duration_s", "x"), ("result.seed", None),
    )  # fmt: skip
    yield from of_files("saved run", "r.json", "report r.json --out r.html", texts)
    yield from of_words(
        "saved run", "compare r.json none.json", "compare r.json", "report r.json", "report r.json --out .",
        "report none.json --out x.html", "explain none.json", "report r.json --out -", files={"r.json": saved},
    )  # fmt: skip


def models() -> Iterator[Refusal]:
    texts = ["", "{}", "[1, 2]", MODEL[:1000], '{"format": "oltpsim-saved-1"}']
    texts += replaced(
        MODEL, ('"confidence": 0.9', '"confidence": 9'), ("oltpsim-calibration-1", "oltpsim-calibration-7"),
        ('"parameters"', '"parametres"'),
    )  # fmt: skip
    yield from of_files("model", "m.json", "run v20z --model m.json", texts)
    yield from of_words(
        "model", "run v20z --model publised", "run v20z --model none.json", "run v2oz --model published",
        "validate none.json",
        "run v20z --model published --set machine.cpu.coers=1", "run v20z --model published --seed -1",
        "next-run none.json",
        "sensitivity v20z --model none.json", "plan v20z --model none.json", "next-run published --for nothere",
        "next-run published --could machine.disks.count", "next-run published --grid", "validate published nothere",
    )  # fmt: skip


def arrays(head: object) -> bytes:
    """A file of arrays with this head, as `system --save` has one."""
    file = io.BytesIO()
    np.savez(file, head=np.frombuffer(json.dumps(head).encode(), dtype=np.uint8))
    return file.getvalue()


def systems() -> Iterator[Refusal]:
    texts: list[str | bytes] = ["text", b"PK\x03\x04", "", b"\x93NUMPY"]
    form = "oltpsim-system-1"
    heads = ({"format": "oltpsim-system-0"}, {"format": form}, {"format": form, "system": {}}, [], {"system": {}})
    texts += map(arrays, heads)
    texts += [arrays({"format": form})[:200]]
    yield from of_files("system", "a.npz", "system a.npz", texts)
    yield from of_words(
        "system", "system none.npz", "system tiny.yaml --save x.yaml", "system a.npz --set machine.cpu.cores=2",
        "system tiny.yaml --set machine.cpu.coers=2", "system tiny.yam",
        "system r.json", "system", files={"tiny.yaml": TINY, "r.json": "{}", "a.npz": "text"},
    )  # fmt: skip


def options() -> Iterator[Refusal]:
    yield from of_words(
        "option of run", "run v20z --seed x", "run v20z --seed -1", "run v20z --seed 99999999999999999999",
        "run v20z --target 0", "run v20z --target nan", "run v20z --workers 0", "run v20z --engine fast",
        "run v20z --replications 0", "run v20z --engine analytic --replications 3", "run", "run v20z v20z",
        "run v20z --sve x", "run v20z -o xml", "frob",
    )  # fmt: skip
    yield from of_words(
        "option of sweep", *(f"sweep v20z --vary {words}" for words in (
            "machine.disks.count", "machine.disks.count=", "machine.disks.count=4:1:1", "machine.disks.count=1:4:0",
            "machine.disks.count=1..4", "machine.disks.count=1,2 --samples 8", "machine.disks.cuont=1,2",
            "machine.disks.count=1,2 --vary machine.disks.count=3,4", "machine.memory_gib=0..4:log --samples 4",
            "machine.disks.count=1,2 --until 0%", "machine.disks.count=1,2 --until 200%",
            "machine.disks.count=1,2 --picture x.bmp", "machine.disks.count=1,2 --export x.xls",
            "machine.disks.count=1,2 --save text.sqlite", "machine.disks.count=1:100000000:1",
            "machine.disks.count=1,1",
        )), "sweep v20z", files={"text.sqlite": "text"},
    )  # fmt: skip
    yield from of_words(
        "option of compare and explain", "compare v20z", "compare v20z v20z --until x",
        "compare v20z v20z --set C:machine.disks.count=2", "compare v20z nothere", "explain v20z --p95 fast",
        "explain v20z --growth 20", "explain v20z --load -3", "explain v20z --prices us-1999",
        "explain v20z --memory-price free", "explain v20z --disk-price -4", "explain v20z --picture x.gif",
        "explain v20z --growth |-20 %/year|", "explain v20z --growth |20 %/fortnight|",
    )  # fmt: skip
    yield from of_words(
        "option of sensitivity", *(f"sensitivity v20z {words}" for words in (
            "--vary machine.cpu.cores=4..1", "--vary machine.cpu.cores=1", "--sobol 100", "--sobol -1", "--sobol x",
            "--vary nothing=1..2", "--vary machine.memory_gib=2..x", "--picture x.gif", "--seed x", "-o xml",
        )),
    )  # fmt: skip
    yield from of_words(
        "option of plan", *(f"plan postgresql-15 --confirm 0 --candidates m7i.large {words}" for words in (
            "--target -1", "--target many", "--target 1000 --p95 x", "--target 1000 --p95 |lunch=5 ms|",
            "--target 1000 --p95 |-5 ms|", "--p95 |5 ms|", "--target 1000 --data-size huge",
            "--target 1000 --data-size |0 GiB|", "--target 1000 --data-size |200 apples|", "--target 1000 --active 0%",
            "--target 1000 --active 150%", "--target 1000 --growth x", "--target 1000 --growth -200%",
            "--target 1000 --months -1", "--target 1000 --years 0", "--target 1000 --budget lots",
            "--target 1000 --budget -5", "--target 1000 --sure 0", "--target 1000 --sure 101%",
            "--target 1000 --prices us-1999", "--target 1000 --prices us-2024", "--target 1000 --candidates zx81",
            "--target 1000 --pool 0%", "--target 1000 --pool 120%", "--target 1000 --connections 0",
            "--target 1000 --confirm 99", "--target 1e12",
        )), "plan published/mutex-mac --target 1", "plan",
    )  # fmt: skip
    run = "calibrate postgres15_go-tpc_in_memory --base postgresql-15 --confirm 0 -q"
    yield from of_words(
        "option of calibrate", "calibrate", "calibrate nothere --base v20z", "calibrate v20z-43000-buffers",
        *(f"{run} {words}" for words in (
            "--vary database.path.transaction_us", "--vary database.path.transaction_us=5..1", "--vary no.such=1..2",
            "--bootstrap -1", "--bootstrap many", "--confirm -1", "--save .", "--seed x", "--mapping none.yaml",
        )),
    )  # fmt: skip
    yield from of_words(
        "option of the lists", "catalog show disk nvme", "catalog show disks nvm", "catalog list disk", "catalog show",
        "--catalog none catalog list", "runs show none", "runs list none", "schema x", "runs check none",
        "catalog show prices us-1999",
    )  # fmt: skip


def mappings() -> Iterator[Refusal]:
    run = "calibrate postgres15_go-tpc_in_memory --base postgresql-15 --confirm 0 -q"
    yield from of_files("mapping", "m.yaml", f"{run} --mapping m.yaml", [
        "", "a: 1", "runs: 3", "runs: {nothere: {settings: {x: 1}}}", "runs: [", "settings: {machine.cpu.cores: zero}",
        "runs: {postgres15_go-tpc_in_memry: {settings: {x: 1}}, other: {}}",
        "runs: {postgres15_go-tpc_in_memory: {settings: {machine.cpu.coers: 1}}}",
        "runs: {postgres15_go-tpc_in_memory: {setings: {}}}", "runs: {postgres15_go-tpc_in_memory: {settings: [1]}}",
        "runs: {postgres15_go-tpc_in_memory: {settings: {machine.cpu.cores: -3}}}",
        "all: {settings: {interval.start: [1, 2]}}", "all: {ignored: [workload.client]}",
    ])  # fmt: skip
    yield from of_files("parameters", "p.yaml", f"{run} --parameters p.yaml", [
        "", "a: 1", "parameters: []", "parameters: 3", "[]", "parameters: {machine.cpu.relative_speed: fast}",
        "parameters: {database.path.transaction_us: {low: 5, high: 1}}", "parameters: {name: {low: 1, high: 2}}",
        "parameters: {no.such: {low: 1, high: 2, source: x}}",
        "parameters: {machine.cpu.relative_speed: {low: 1, high: 2, prior: much, source: x}}",
    ])  # fmt: skip
    yield from of_files("candidates", "c.yaml", "next-run published --candidates c.yaml", [
        "", "a: 1", "candidates: 3", "candidates: {}", "[]", "candidates: {x: 3}", "candidates: {x: {cost: -1}}",
        "candidates: {x: {settings: {no.such: 1}}}", "candidates: [", "candidates: {x: {sets: {a: 1}}}",
    ])  # fmt: skip


def tables() -> Iterator[Refusal]:
    pairs = [("", COLUMNS), (TABLE, ""), (TABLE, "[]"), (TABLE + "small,4\n", COLUMNS), ("a;b\n1;2\n", COLUMNS)]
    pairs += [(text, COLUMNS) for text in replaced(
        TABLE, ("60000", "sixty"), ("per_minute", "per_hour"), ("small,4,16", "small,4,8"), ("60000", "-5"),
        ("60000", "nan"),
    )]  # fmt: skip
    pairs += [(TABLE, text) for text in replaced(
        COLUMNS, ("outcome.mean_ms", "outcome.maen_ms"), ("name: [machine, clients]", "name: [machin]"),
        ("window: steady", "window: wobbly"), ("factor: 0.001", "factor: 0"), ("source:", "sauce:"),
    )]  # fmt: skip
    for table, columns in pairs:
        yield Refusal("table", ("import", "t.csv", "--mapping", "t.yaml"), {"t.csv": table, "t.yaml": columns})
    yield from of_words("table", "import t.csv --mapping none.yaml", "import t.csv", files={"t.csv": TABLE})


def records() -> Iterator[Refusal]:
    texts: list[str | bytes] = ["", "[]", "a: 1", RECORD[:300], b"\x80\x81", "format: oltpsim-run-1", '{"format": "x"']
    texts += changed(
        RECORD, ("format", "oltpsim-run-3"), ("window", None), ("window.kind", "strange"), ("name", ""),
        ("outcome.new_orders_per_hour", 1), ("outcome.new_orders_per_minute.value", "x"),
        ("outcome.new_orders_per_minute.value", -1), ("outcome.new_orders_per_minute.source", None),
        ("workload.clients.value", -2), ("window.duration_s.value", 0),
    )  # fmt: skip
    yield from of_files("record", "r.yaml", "runs show r.yaml", texts)


HALVES = (
    "hammerdb/run.log", "hammerdb/result.json", "sysbench/tpcc_1.0.15.txt", "benchbase/run.summary.json",
    "go-tpc/tpcc_run_plain.txt", "tpcc-mysql/run.txt", "dbt2/summary.rst", "oracle/awr.txt", "fio/fifo200.qd1.json",
    "monitors/iostat_x.json",
)  # fmt: skip


def harnesses() -> Iterator[Refusal]:
    for name in HALVES:
        text = (SAMPLES / name).read_text(encoding="utf-8")
        file = name.replace("/", "_")
        yield Refusal("harness cut off", ("import", file), {file: text[: len(text) // 2]})
    yield from of_files("harness", "e.txt", "import e.txt", ["", "hello", b"\0" * 100])
    fio = {"f.json": (SAMPLES / "fio" / "fifo200.qd1.json").read_text(encoding="utf-8")}
    yield from of_words(
        "harness", "import none", "import .", "import", "import f.json --capacity lots", "import f.json --rpm 3",
        "import f.json --device sdz", "import f.json --capacity 0GiB", "import f.json --save .", files=fio,
    )  # fmt: skip


PRICES = (
    "{name: x, date: 2020-01-01, currency: USD, term: purchase, source: x, rows: [{part: disks/nvme, amount: 1, "
    "per: piece}]}"
)
ENTRIES = {
    "disks": (
        "", "{base: nwme, source: x}", "{base: nvme, capacity_gib: -3, source: x}",
        "{base: nvme, capcity_gib: 3, source: x}", "[1]", "{kind: drum, source: x}", "{base: mine, source: x}",
        "{base: nvme, source: todo}", "{base: nvme, capacity_gib: 3 ms, source: x}", "{base: nvme, source: 7}",
    ),
    "prices": (
        "{name: x}", *replaced(
            PRICES, ("2020-01-01", "2020-13-01"), ("2020-01-01", "yesterday"), ("amount: 1", "amount: -1"),
            ("USD", "dollars"), ("purchase", "never"), ("disks/nvme", "disks/nvmx"), ("amount: 1", "amount: free"),
            ("per: piece", "per: fortnight"), ("2020-01-01", "2999-01-01"), ("disks/nvme", "nvme"),
            ("[{part: disks/nvme, amount: 1, per: piece}]", "[]"),
            ("per: piece}", "per: piece}, {part: disks/nvme, amount: 2, per: piece}"),
        ),
    ),
    "volumes": (
        "{base: gp3, least_gib: 0, source: x}", "{base: gp9, source: x}", "{base: gp3, most_gib: 0.5, source: x}",
        "{name: a, source: x}", "{base: gp3, most_gib: big, source: x}",
    ),
    "instances": (
        "{cores: 4, source: x}", "{name: a, provider: b, memory_gib: 4, cpu: z80, source: x}",
        "{name: a, provider: b, memory_gib: 0, cpu: server-2020s, source: x}",
        "{name: a, provider: b, memory_gib: 4, cpu: server-2020s, source: tbd}",
    ),
    "others": (),
}  # fmt: skip


def entries() -> Iterator[Refusal]:
    others = {
        "cpus": "{relative_speed: -1, source: x}",
        "databases": "{base: virtuoso-4, io: fast, source: x}",
        "machines": "{base: sunfire-v20z, memory_gib: none, source: x}",
        "operating_systems": "{base: linux, reserved_memory_gib: -1, source: x}",
        "workloads": "{base: go-tpc, warehouses: 0, source: x}",
        "layouts": "{page_kib: 8, source: x}",
        "chassis": "{name: x, source: x}",
    }
    for kind, texts in ENTRIES.items():
        for text in texts:
            yield Refusal("catalogue", ("--catalog", "mine", "catalog", "check"), {f"mine/{kind}/mine.yaml": text})
    for kind, text in others.items():
        yield Refusal("catalogue", ("--catalog", "mine", "catalog", "check"), {f"mine/{kind}/mine.yaml": text})
    shapes = {"instances.json": (SAMPLES / "catalogue" / "ec2instances.json").read_text(encoding="utf-8")}
    prices = {"my-prices.csv": (SAMPLES / "catalogue" / "my-prices.csv").read_text(encoding="utf-8")}
    yield from of_files("list of prices", "x.json", "catalog import x.json", ["{}", "", "[", "null"])
    yield from of_words(
        "list of prices", "catalog import none.json", "catalog import instances.json --date tomorrow",
        "catalog import instances.json --kind ibm", "catalog import my-prices.csv",
        "catalog import my-prices.csv --date 2020-01-01 --currency shells --into o",
        "catalog import my-prices.csv --date 2020-01-01 --into my-prices.csv", files=shapes | prices,
    )  # fmt: skip


LINES = (
    "pgbench, 500 warehouses", "HammerDB, scale 1000", "scale 1000", "sysbench, scale 1000", "pgbench, 8 tables",
    "YCSB A, 2,600,000 records", "pgbench, HammerDB", "sysbench read-only, point select", "pgbench, all warehouses",
    "pgbench, 1000 new orders each", "pgbench, load of 20 warehouses", "pgbench scale 200000",
    "pgbench, scale 100, 5 GB of data", "pgbench -S -N",
)  # fmt: skip
"""workloads of a line that don't go with the rest of it"""


def lines() -> Iterator[Refusal]:
    yield from of_words("line", *(f"run -q |8 cores, 32 GB, NVMe, {pieces}|" for pieces in LINES))
    yield from of_words("line", "plan |8 cores, 32 GB, SSD, pgbench| --target 5000 -q -o json")
    yield from of_words("line", "compare |8 cores, 32 GB, SSD, pgbench| |8 cores, 32 GB, SSD|")


def refusals(saved: str) -> list[Refusal]:
    """All of them. `saved`: a saved run, as JSON."""
    parts = (scenarios(), settings(), saved_runs(saved), models(), systems(), options(), mappings(), tables(),
             records(), harnesses(), entries(), lines())  # fmt: skip
    return [each for part in parts for each in part]


def answer(refusal: Refusal, folder: Path) -> tuple[int, str, str]:
    """Exit status and what was written to stdout and stderr; the command runs in the folder, the place not named."""
    for name, text in refusal.files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())
    out, err = io.StringIO(), io.StringIO()
    before = Path.cwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(refusal.words)
    finally:
        os.chdir(before)
    return status, out.getvalue(), err.getvalue().replace(str(folder), "FOLDER")


def saved_run() -> str:
    """A saved run of the tiny scenario."""
    with tempfile.TemporaryDirectory() as folder:
        words = ("run", "tiny.yaml", "-q", "--save", "saved.json")
        assert answer(Refusal("", words, {"tiny.yaml": TINY}), Path(folder))[0] == 0
        return (Path(folder) / "saved.json").read_text(encoding="utf-8")


def sentences() -> Iterator[tuple[Refusal, tuple[int, str, str]]]:
    for refusal in refusals(saved_run()):
        with tempfile.TemporaryDirectory() as folder:
            yield refusal, answer(refusal, Path(folder))


def written(found: Sequence[tuple[Refusal, tuple[int, str, str]]]) -> dict[str, str]:
    """Sentences under their kinds, numbers and command lines."""
    numbers: Counter[str] = Counter()
    rows = {}
    for refusal, (_, _, err) in found:
        numbers[refusal.kind] += 1
        rows[f"{refusal.kind} {numbers[refusal.kind]}: oltpsim {' '.join(refusal.words)}"] = err
    return rows


@pytest.fixture(scope="module")
def found() -> list[tuple[Refusal, tuple[int, str, str]]]:
    return list(sentences())


def test_every_bad_input_is_refused_without_an_answer_or_a_traceback(
    found: list[tuple[Refusal, tuple[int, str, str]]],
) -> None:
    accepted = [
        (refusal.words, status, err[:200])
        for refusal, (status, out, err) in found
        if status != BAD_INPUT or out or not err.startswith("error: ") or "Traceback" in err
    ]
    assert not accepted


def test_the_sentences_are_those_that_were_read(found: list[tuple[Refusal, tuple[int, str, str]]]) -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    ours = written(found)
    differing = [key for key in {**golden, **ours} if golden.get(key) != ours.get(key)]
    assert not differing, "\n".join(
        [f"{len(differing)} differ; {REMEDY}"]
        + [f"{key}\n  golden {golden.get(key)}\n  ours   {ours.get(key)}" for key in differing[:10]]
    )


def test_there_are_enough_of_each_kind(found: list[tuple[Refusal, tuple[int, str, str]]]) -> None:
    counts = Counter(refusal.kind for refusal, _ in found)
    assert len(found) >= LEAST
    assert {kind: count for kind, count in counts.items() if count < LEAST_OF_A_KIND} == {}


def test_an_input_that_is_mended_is_taken(tmp_path: Path) -> None:
    status, out, _ = answer(Refusal("", ("run", "s.yaml", "-q", "--engine", "analytic"), {"s.yaml": TINY}), tmp_path)
    assert (status, "new orders per minute" in out) == (0, True)


if __name__ == "__main__":
    rows = written(list(sentences()))
    GOLDEN.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(f"{GOLDEN.relative_to(ROOT)}: {len(rows)} sentences\n")
