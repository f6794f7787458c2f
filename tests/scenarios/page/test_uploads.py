"""Uploads stay in their folder, whatever their files are called and hold."""

import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oltpsim.scenarios.page import uploads
from oltpsim.scenarios.page.uploads import MOST_DEPTH, safe_path, save_upload
from oltpsim.simulator.errors import InputError

NAMES = [
    "../../etc/passwd",
    "/etc/passwd",
    "C:\\Windows\\system32\\drivers",
    "..\\..\\up",
    "....//....//up",
    "<script>alert(1)</script>",
    "\x00\x01",
    "",
    ".",
    "..",
    "con" * 200,
    "a/" * 300 + "b",
    "лог\u202etxt",
]


def inside(folder: Path) -> list[Path]:
    return [each for each in folder.rglob("*") if each.is_file()]


@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_no_name_leads_out_of_the_folder(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "uploads"
    found = save_upload(folder, [(name, io.BytesIO(b"x"))])
    [path] = inside(tmp_path)
    assert path.resolve().is_relative_to((folder / found / "run").resolve())


@given(st.text(max_size=60))
def test_a_safe_path_is_relative_and_plain(name: str) -> None:
    path = safe_path(name)
    assert not path.is_absolute()
    assert 1 <= len(path.parts) <= MOST_DEPTH
    assert all(part not in {"..", "."} and part.isascii() and part.isprintable() for part in path.parts)


def test_files_of_one_name_are_both_kept(tmp_path: Path) -> None:
    save_upload(tmp_path, [("a.txt", io.BytesIO(b"1")), ("A.txt", io.BytesIO(b"2")), ("./a.txt", io.BytesIO(b"3"))])
    assert sorted(each.read_bytes() for each in inside(tmp_path)) == [b"1", b"2", b"3"]


def zipped(names: dict[str, bytes]) -> io.BytesIO:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in names.items():
            archive.writestr(name, content)
    stream.seek(0)
    return stream


def test_an_archive_is_unpacked_below_its_folder(tmp_path: Path) -> None:
    archive = zipped({"run/a.log": b"1", "../../../evil": b"2", "/abs": b"3"})
    name = save_upload(tmp_path / "uploads", [("runs.zip", archive)])
    files = inside(tmp_path)
    assert len(files) == 3
    assert all(each.is_relative_to(tmp_path / "uploads" / name) for each in files)


def test_a_zip_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MOST_UNPACKED", 100_000)
    with pytest.raises(InputError, match="unpacked"):
        save_upload(tmp_path, [("bomb.zip", zipped({"zeros": bytes(10_000_000)}))])
    assert sum(each.stat().st_size for each in inside(tmp_path)) <= 100_000


def test_what_is_no_zip_and_too_many_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no zip"):
        save_upload(tmp_path, [("bad.zip", io.BytesIO(b"PK\x03\x04 and then nothing"))])
    with pytest.raises(InputError, match="501 files"):
        save_upload(tmp_path, [("many.zip", zipped({str(number): b"" for number in range(501)}))])
    with pytest.raises(InputError, match="more than 500"):
        save_upload(tmp_path, [(str(number), io.BytesIO(b"")) for number in range(501)])
    with pytest.raises(InputError, match="no file"):
        save_upload(tmp_path, [])
