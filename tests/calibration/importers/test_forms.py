"""Form before content: packed, foreign encodings, colours, empty and unknown files; and one door for errors."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from oltpsim.calibration.importers import find_runs, registry
from oltpsim.calibration.importers.recognition import looks_like, looks_like_result
from oltpsim.calibration.importers.registry import read_file, read_runs
from oltpsim.models.input import SourceFile
from oltpsim.simulator.errors import InputError
from tests.calibration.conftest import SAMPLES, reading_of, value_of

SAMPLE = SAMPLES / "pgbench/tpcb_summary.txt"
JSON_SAMPLE = SAMPLES / "monitors/iostat_x.json"
FORMS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "UTF-16 of PowerShell": lambda content: content.decode().encode("utf-16"),
    "UTF-16 without a mark": lambda content: content.decode().encode("utf-16-le"),
    "big-endian UTF-16": lambda content: content.decode().encode("utf-16-be"),
    "UTF-8 with a mark": lambda content: b"\xef\xbb\xbf" + content,
    "colours": lambda content: b"\x1b[32m" + content.replace(b"tps = ", b"\x1b[1;31mtps\x1b[0m = "),
    "line ends of Windows": lambda content: content.replace(b"\n", b"\r\n"),
    "gzip of UTF-16": lambda content: gzip.compress(content.decode().encode("utf-16")),
}


def stored(tmp_path: Path, content: bytes, name: str = "run.txt") -> SourceFile:
    (tmp_path / name).write_bytes(content)
    return SourceFile(tmp_path / name, name)


@pytest.mark.parametrize("form", FORMS)
def test_a_form_changes_no_figure(tmp_path: Path, form: str) -> None:
    reading = read_file(stored(tmp_path, FORMS[form](SAMPLE.read_bytes())))
    plain = reading_of(SAMPLE)
    assert reading is not None
    for key in ("outcome.transactions_per_s", "outcome.mean_ms", "workload.clients"):
        assert value_of(reading, key) == value_of(plain, key)


def test_packed_json_is_read(tmp_path: Path) -> None:
    reading = read_file(stored(tmp_path, gzip.compress(JSON_SAMPLE.read_bytes())))
    assert reading is not None
    assert reading.kind == "iostat"


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_packed_file_that_is_cut_off_is_refused(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    packed = pack(SAMPLE.read_bytes() * 50)
    with pytest.raises(InputError, match="got a packed file that ends early or is damaged; expected a whole one"):
        read_file(stored(tmp_path, packed[: len(packed) // 2]))


def test_a_packed_file_is_bounded_unpacked(tmp_path: Path) -> None:
    path = stored(tmp_path, gzip.compress(b"0" * 100_000)).path
    with pytest.raises(InputError, match="got more than 10,000 bytes; expected at most 10,000"):
        read_file(SourceFile(path, path.name, most_bytes=10_000))


@pytest.mark.parametrize(
    ("magic", "said"), [(b"\x28\xb5\x2f\xfd", "zstd"), (b"PK\x03\x04", "a zip archive"), (b"\x04\x22\x4d\x18", "lz4")]
)
def test_packing_that_is_not_read_is_named_with_its_remedy(tmp_path: Path, magic: bytes, said: str) -> None:
    with pytest.raises(InputError, match=f"got {said}; expected text, JSON, or a file packed by gzip.*; unpack it"):
        read_file(stored(tmp_path, magic + b"rest"))


@pytest.mark.parametrize(
    ("content", "said", "is_result"),
    [
        (b"", "an empty file", False),
        (b"\x00\x01\x02\x03\x04", "a binary file", False),
        (b'{"alpha": 1, "beta": 2}', "JSON with the keys alpha, beta", False),
        (b"<html><body>", "HTML or XML", False),
        (b"clients,tps,latency_ms\n1,100,10\n", "a CSV table of the columns clients, tps, latency_ms", True),
        (b"our tool: throughput 100 tps, latency 5 ms\n", "text that begins with 'our tool", True),
        (b"a diary of the day\n", "text that begins with 'a diary", False),
    ],
)
def test_an_unknown_file_is_described(tmp_path: Path, content: bytes, said: str, is_result: bool) -> None:
    file = stored(tmp_path, content)
    assert looks_like(file).startswith(said)
    assert looks_like_result(file) is is_result
    with pytest.raises(InputError, match=r"looks like .*; expected results of HammerDB.*--mapping FILE.yaml"):
        find_runs([file.path])


def test_an_unread_result_in_a_folder_is_told(tmp_path: Path) -> None:
    stored(tmp_path, SAMPLE.read_bytes())
    stored(tmp_path, b"a diary of the day\n", "diary.txt")
    (found,) = find_runs([tmp_path])
    assert not found.unread_results
    stored(tmp_path, b"throughput 100 tps, latency 5 ms\n", "own.txt")
    (found,) = find_runs([tmp_path])
    assert [line.split(" ")[0] for line in found.unread_results] == ["own.txt"]


class Careless:
    """An importer that takes a file's shape for granted."""

    KIND = "careless"

    def __init__(self, error: Exception) -> None:
        self.error = error

    def detect(self, file: SourceFile) -> bool:
        return bool(file.head)

    def read(self, file: SourceFile) -> None:
        assert self.detect(file)
        raise self.error


@pytest.mark.parametrize("error", [KeyError("jobs"), IndexError(), TypeError("x" * 9000), ZeroDivisionError()])
def test_what_an_importer_raises_becomes_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(registry, "IMPORTERS", (Careless(error),))
    with pytest.raises(InputError) as raised:
        read_runs(stored(tmp_path, b"text"))
    assert str(raised.value).startswith(f"run.txt: got contents of another shape ({type(error).__name__}")
    assert len(str(raised.value)) <= 600


def test_a_message_has_no_control_characters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "IMPORTERS", (Careless(InputError("run.txt: \x1b[31mred\x07" + "x" * 9000)),))
    with pytest.raises(InputError) as raised:
        read_runs(stored(tmp_path, b"text"))
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) <= 600


def test_other_exceptions_are_defects_and_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "IMPORTERS", (Careless(NotImplementedError()),))
    with pytest.raises(NotImplementedError):
        read_runs(stored(tmp_path, b"text"))
