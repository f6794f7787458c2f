"""Uploaded files: kept under names of the program's own making, in a folder of their own; archives are unpacked."""

import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from uuid import uuid4

from oltpsim.models.input import short_text
from oltpsim.simulator.errors import InputError

MOST_FILES, MOST_DEPTH, MOST_LETTERS = 500, 4, 80
MOST_UNPACKED = 256 * 2**20
"""bytes of all files together"""
CHUNK = 2**20
DAMAGED_ARCHIVE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error,
    NotImplementedError, RuntimeError, EOFError, ValueError, LookupError,
)  # fmt: skip
"""Exceptions of zipfile and of what unpacks for it"""
OTHER_LETTERS = re.compile(r"[^A-Za-z0-9._ +=-]")


def save_upload(folder: Path, files: Iterable[tuple[str, BinaryIO]]) -> str:
    """Write files of a request, (name, content), below `folder`; gives the name of their own folder there.

    Raises InputError for too many or too large ones; what was written of them is removed.
    """
    name = uuid4().hex[:16]
    place = folder / name / "run"
    written: dict[str, int] = {}
    left = MOST_UNPACKED
    for path, stream in _unpacked(files):
        if len(written) >= MOST_FILES:
            raise InputError(f"upload: got more than {MOST_FILES} files; give the folder of one run, or a few")
        relative = safe_path(path)
        while str(relative).casefold() in written:
            relative = relative.with_name(f"{len(written)}-{relative.name}"[:MOST_LETTERS])
        target = place / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            while chunk := _chunk(path, stream):
                left -= len(chunk)
                if left < 0:
                    raise InputError(f"upload: files are more than {MOST_UNPACKED >> 20} MiB unpacked; give fewer")
                file.write(chunk)
        written[str(relative).casefold()] = 1
    if not written:
        raise InputError("upload: got no file; choose the files of a run, its folder, or a zip of it")
    return name


def safe_path(name: str) -> PurePosixPath:
    """A relative path of plain letters, whatever a browser or an archive called the file."""
    parts = [OTHER_LETTERS.sub("_", part).strip(". ")[-MOST_LETTERS:] for part in name.replace("\\", "/").split("/")]
    parts = [part for part in parts if part]
    return PurePosixPath(*(parts[-MOST_DEPTH:] or ["file"]))


def _chunk(name: str, stream: BinaryIO) -> bytes:
    """The next bytes. Raises InputError for a damaged archive."""
    try:
        return stream.read(CHUNK)
    except (*DAMAGED_ARCHIVE, OSError) as error:
        raise InputError(
            f"upload: {safe_path(name)}: can't be unpacked: {short_text(str(error))}; zip it again"
        ) from error


def _unpacked(files: Iterable[tuple[str, BinaryIO]]) -> Iterator[tuple[str, BinaryIO]]:
    for name, stream in files:
        if not name.lower().endswith(".zip"):
            yield name, stream
            continue
        try:
            with zipfile.ZipFile(BytesIO(stream.read())) as archive:
                inside = [each for each in archive.infolist() if not each.is_dir()]
                if len(inside) > MOST_FILES:
                    raise InputError(
                        f"upload: {short_text(name)} holds {len(inside)} files; at most {MOST_FILES} are read"
                    )
                for each in inside:
                    with archive.open(each) as content:
                        yield each.filename, content  # type: ignore[misc]
        except (*DAMAGED_ARCHIVE, OSError) as error:
            why = short_text(str(error))
            raise InputError(f"upload: {short_text(name)}: is no zip that can be read: {why}; zip it again") from error
