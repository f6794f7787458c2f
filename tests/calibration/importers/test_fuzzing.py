"""Damaged samples of every format: each is read or refused in one sentence, whatever was changed in it."""

import random
from pathlib import Path

import pytest

from oltpsim.calibration.importers.registry import read_runs
from oltpsim.models.input import SourceFile
from oltpsim.simulator.errors import InputError
from tests.calibration.conftest import SAMPLES

CASES, SEED, MOST_SAMPLE_BYTES = 1_500, 20261129, 20_000
WORDS = (b"0", b"-1", b"1e999", b"nan", b"null", b"{}", b"[]", b"\x00", b'"', b"\xff", b"9" * 20, b"\x1b[31m", b"")
FILES = sorted(
    path
    for path in SAMPLES.rglob("*")
    if path.is_file() and path.suffix != ".md" and path.stat().st_size < MOST_SAMPLE_BYTES
)


def damaged(content: bytes, draw: random.Random) -> bytes:
    """The content with one to five changes: a byte, a stretch that is lost, doubled, moved or overwritten, a cut."""
    found = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 5))):
        if not found:
            break
        first = draw.randrange(len(found))
        end = min(len(found), first + draw.randrange(1, 60))
        kind = draw.randrange(6)
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
        else:
            del found[first:]
    return bytes(found)


@pytest.mark.parametrize("share", range(5))
def test_a_damaged_file_is_read_or_refused_in_one_sentence(tmp_path: Path, share: int) -> None:
    draw = random.Random(SEED + share)  # noqa: S311 - no secret
    refused: list[str] = []
    for _ in range(CASES // 5):
        sample = draw.choice(FILES)
        path = tmp_path / sample.name
        path.write_bytes(damaged(sample.read_bytes(), draw))
        try:
            read_runs(SourceFile(path, path.name))
        except InputError as error:
            refused.append(str(error))
    assert [message for message in refused if not message.isprintable() or len(message) > 600] == []
    assert len(refused) > CASES // 50  # changes that do nothing would test nothing
