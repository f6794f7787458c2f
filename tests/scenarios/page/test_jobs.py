"""Background jobs: done, failed, cancelled, waiting."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from oltpsim.scenarios.page import jobs
from oltpsim.scenarios.page.jobs import CANCELLED, DONE, FAILED, JobBoard, report_share
from oltpsim.simulator.errors import InputError


def write(path: Path) -> None:
    report_share(0.5)
    path.write_text("whole", encoding="utf-8")


def refuse(text: str) -> None:
    raise InputError(text)


def break_down() -> None:
    raise ZeroDivisionError("deliberately")


def sleep(path: Path) -> None:
    report_share(0.25)
    path.write_text("begun", encoding="utf-8")
    time.sleep(600)


@pytest.fixture
def board() -> Iterator[JobBoard]:
    found = JobBoard()
    yield found
    found.close()


def over(board: JobBoard, name: str) -> jobs.JobState:
    while True:
        state = board.state(name)
        assert state is not None
        if state.is_over:
            return state
        time.sleep(0.05)


def test_a_job_ends_with_its_answer_written(board: JobBoard, tmp_path: Path) -> None:
    board.begin("one", write, tmp_path / "answer")
    assert over(board, "one").state == DONE
    assert over(board, "one").share == 0.5
    assert (tmp_path / "answer").read_text(encoding="utf-8") == "whole"


def test_a_refusal_and_a_defect_are_said_in_words(board: JobBoard) -> None:
    board.begin("refused", refuse, "give 2 disks")
    board.begin("broken", break_down)
    assert (over(board, "refused").state, over(board, "refused").message) == (FAILED, "give 2 disks")
    assert over(board, "broken").message == "a defect of oltpsim: ZeroDivisionError: deliberately"


def test_a_cancelled_job_ends_at_once(board: JobBoard, tmp_path: Path) -> None:
    board.begin("long", sleep, tmp_path / "began")
    while not (tmp_path / "began").exists():
        time.sleep(0.05)
    state = board.state("long")
    assert state is not None
    assert state.share == 0.25
    board.cancel("long")
    assert over(board, "long").state == CANCELLED


def test_one_that_waits_can_be_cancelled_and_too_many_are_refused(
    board: JobBoard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "MOST_WAITING", 3)
    for number in range(3):
        board.begin(str(number), sleep, tmp_path / str(number))
    with pytest.raises(InputError, match="3 pieces of work wait already"):
        board.begin("3", sleep, tmp_path / "3")
    board.begin("2", sleep, tmp_path / "2")  # which is at work or waits already
    board.cancel("2")
    assert over(board, "2").state == CANCELLED
    assert board.state("none") is None
    board.cancel("none")
