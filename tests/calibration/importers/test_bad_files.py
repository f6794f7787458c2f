"""Truncated, foreign, huge and unreadable files: one clear message, and never a half-read record."""

import re
from pathlib import Path

import pytest

from oltpsim.calibration.importers.registry import read_file
from oltpsim.calibration.records import FileReading
from oltpsim.models.input import SourceFile
from oltpsim.simulator.errors import InputError
from tests.calibration.conftest import SAMPLES, reading_of

FILES = sorted(
    str(path.relative_to(SAMPLES))
    for path in SAMPLES.rglob("*")
    if path.is_file() and path.parent.name not in {"tables", "catalogue"} and path.suffix != ".md"
)
RESULTS = [
    "go-tpc/tpcc_run_plain.txt",
    "go-tpc/tpcc_run_table.txt",
    "go-tpc/tpcc_run_json.txt",
    "hammerdb/run.log",
    "hammerdb/report.json",
    "hammerdb/timing.json",
    "sysbench/tpcc_1.0.15.txt",
    "sysbench/oltp_rw_histogram.txt",
    "sysbench/tpcc_kit.txt",
    "pgbench/tpcb_summary.txt",
    "pgbench/rate_limited.txt",
    "benchbase/run.summary.json",
    "tpcc-mysql/run.txt",
    "dbt2/summary.rst",
    "mysql/innodb_status_mariadb1011.txt",
    "fio/fifo200.qd1.json",
    "oracle/awr.txt",
    "blktrace/blkparse.txt",
]
"""Formats that say where they end, so that every cut shows."""
RATES = [("outcome", "new_orders_per_minute"), ("outcome", "transactions_per_s"), ("outcome", "mean_ms")]
CUTS = (0.1, 0.25, 0.5, 0.75)


def read_of(path: Path) -> FileReading | str | None:
    """The reading, the message, or None if it isn't recognised."""
    try:
        return read_file(SourceFile(path, path.name))
    except InputError as error:
        return str(error)


def same_figures(ours: FileReading, whole: FileReading) -> bool:
    """Whether all that `ours` says is what `whole` says too."""
    rows = [] if ours.samples is None else [row.values for row in ours.samples.rows]
    of_whole = [] if whole.samples is None else [row.values for row in whole.samples.rows]
    counters = {} if ours.snapshot is None else ours.snapshot.counters
    known = {} if whole.snapshot is None else whole.snapshot.counters
    return rows == of_whole[: len(rows)] and all(known[name] == value for name, value in counters.items())


@pytest.mark.parametrize("sample", RESULTS)
@pytest.mark.parametrize("share", CUTS)
def test_a_result_that_is_cut_off_is_refused(tmp_path: Path, sample: str, share: float) -> None:
    stored = (SAMPLES / sample).read_bytes()
    path = tmp_path / Path(sample).name
    path.write_bytes(stored[: int(len(stored) * share)])
    outcome = read_of(path)
    if isinstance(outcome, FileReading):  # cut behind all that is read of it
        whole = reading_of(SAMPLES / sample)
        assert {key: value(outcome, key) for key in RATES} == {key: value(whole, key) for key in RATES}
    elif outcome is not None:
        assert outcome.startswith(f"{path.name}, ")
        assert outcome.count("; ") >= 2
        assert "\n" not in outcome


@pytest.mark.parametrize("sample", FILES)
def test_a_file_that_is_cut_within_a_line_is_never_read_to_other_figures(tmp_path: Path, sample: str) -> None:
    stored = (SAMPLES / sample).read_bytes()
    whole = reading_of(SAMPLES / sample)
    path = tmp_path / Path(sample).name
    for cut in range(len(stored) - 1, 0, -max(1, len(stored) // 60)):
        if stored[cut - 1 : cut] == b"\n" or stored[cut : cut + 1] == b"\n":
            continue
        path.write_bytes(stored[:cut])
        outcome = read_of(path)
        if isinstance(outcome, FileReading):
            assert same_figures(outcome, whole), f"cut at {cut}"
            assert [value(outcome, key) for key in RATES] == [value(whole, key) for key in RATES], f"cut at {cut}"


@pytest.mark.parametrize("sample", FILES)
def test_a_decimal_comma_is_refused_or_harmless(tmp_path: Path, sample: str) -> None:
    text = (SAMPLES / sample).read_text(encoding="utf-8")
    foreign = re.sub(r"(?<=\d)\.(?=\d)", ",", text)
    path = tmp_path / Path(sample).name
    path.write_text(foreign, encoding="utf-8")
    outcome = read_of(path)
    if isinstance(outcome, FileReading) and foreign != text:
        whole = reading_of(SAMPLES / sample)
        assert same_figures(outcome, whole)
        figures = {
            key: leaf
            for key, leaf in whole.values.items()
            if key[0] in ("outcome", "resources", "window") and key in outcome.values
        }
        assert {key: value(outcome, key) for key in figures} == {key: value(whole, key) for key in figures}


def value(reading: FileReading, key: tuple[str, ...]) -> object:
    leaf = reading.values.get(key)
    return leaf.get("value", leaf.get("values")) if isinstance(leaf, dict) else leaf


@pytest.mark.parametrize(
    ("sample", "said"),
    [
        (
            "monitors/iostat_megabytes.txt",
            "line 4, sda r/s: got '1,00'; expected a decimal point; run the tool with LC_ALL=C",
        ),
        ("monitors/mpstat_text.txt", "line 4, %usr: got '15,66'; expected a decimal point"),
        ("monitors/iostat_x.json", "expected numbers with a decimal point; run the tool with LC_ALL=C"),
        ("sysbench/tpcc_1.0.15.txt", "got '400,10'; expected a decimal point"),
        ("pgbench/tpcb_summary.txt", "expected a decimal point"),
        ("go-tpc/tpcc_run_table.txt", "NEW_ORDER Takes(s)|expected a decimal point"),
    ],
)
def test_a_decimal_comma_is_named_with_its_place(tmp_path: Path, sample: str, said: str) -> None:
    text = (SAMPLES / sample).read_text(encoding="utf-8")
    path = tmp_path / Path(sample).name
    path.write_text(re.sub(r"(?<=\d)\.(?=\d)", ",", text), encoding="utf-8")
    outcome = read_of(path)
    assert isinstance(outcome, str)
    assert any(part in outcome for part in said.split("|")), outcome


@pytest.mark.parametrize("word", ["nan", "inf", "1e999", "", "-", "0x10", "1 2", "1.2.3", "1,2,3", "12,34.5"])
def test_what_is_no_number_is_refused(tmp_path: Path, word: str) -> None:
    file = SourceFile(tmp_path / "x", "x")
    with pytest.raises(InputError, match=r"^x, line 1: got .*; expected "):
        file.number(word, "line 1", grouped=True)


@pytest.mark.parametrize(
    ("word", "number"), [("12,345.5", 12345.5), ("1,234", 1234), ("7", 7), (".5", 0.5), ("1e3", 1000)]
)
def test_thousands_are_grouped_only_where_the_format_does_so(tmp_path: Path, word: str, number: float) -> None:
    file = SourceFile(tmp_path / "x", "x")
    assert file.number(word, "line 1", grouped=True) == number
    if "," in word:
        with pytest.raises(InputError):
            file.number(word, "line 1")


def test_a_huge_file_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "iostat.json"
    path.write_bytes((SAMPLES / "monitors/iostat_x.json").read_bytes())
    small = SourceFile(path, path.name, most_bytes=1000)
    monkeypatch.setattr(Path, "read_bytes", lambda _: pytest.fail("it was read"))
    try:
        outcome: object = read_file(small)
    except InputError as error:
        outcome = str(error)
    assert isinstance(outcome, str)
    assert re.fullmatch(
        r"iostat.json: got [\d,]+ bytes; expected at most 1,000; cut it to the measured interval", outcome
    )


def test_other_encodings_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_bytes((SAMPLES / "pgbench/tpcb_summary.txt").read_bytes().replace(b"TPC-B", b"TPC-\xe4"))
    outcome = read_of(path)
    assert isinstance(outcome, str)
    assert "expected UTF-8 text; convert it with iconv" in outcome


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_bytes(b"\xef\xbb\xbf" + (SAMPLES / "hammerdb/run.log").read_bytes())
    assert isinstance(read_of(path), FileReading)


def test_lines_of_windows_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_bytes((SAMPLES / "sysbench/tpcc_1.0.15.txt").read_bytes().replace(b"\n", b"\r\n"))
    assert isinstance(read_of(path), FileReading)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert "can't be read: No such file" in str(read_of(tmp_path / "nothing"))


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"fio version": ' + "[" * 200_000)
    assert isinstance(read_of(path), str)
