"""State of a long question: each step kept as it is done, none done twice, none believed that isn't whole."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from oltpsim.calibration.fit import StepJournal
from oltpsim.simulator.errors import InputError

CALLS = {f"step {number}": (number,) for number in range(6)}


class Stopped(Exception):
    """Stands for a kill."""


class Work:
    """Work that counts its calls, and is stopped before one."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.done: list[int] = []
        self.stop_at = stop_at

    def __call__(self, number: int) -> list[float]:
        if number == self.stop_at:
            raise Stopped
        self.done.append(number)
        return [number / 3.0]


def test_what_was_stopped_goes_on_with_what_is_missing(tmp_path: Path) -> None:
    state = tmp_path / "state"
    first, second = Work(stop_at=4), Work()
    with pytest.raises(Stopped):
        StepJournal(state, "task").once_each(first, CALLS, None)
    before = state.read_text(encoding="utf-8")
    kept = StepJournal(state, "task")
    assert kept.finished == 4
    with ThreadPoolExecutor(2) as threads:
        found = kept.once_each(second, CALLS, threads)
    assert first.done == [0, 1, 2, 3]
    assert sorted(second.done) == [4, 5]
    assert kept.reused == 4
    assert found == [[number / 3.0] for number in range(6)]
    assert state.read_text(encoding="utf-8").startswith(before), "what is kept isn't written again"


def test_another_task_begins_anew(tmp_path: Path) -> None:
    state, work = tmp_path / "state", Work()
    StepJournal(state, "task").once_each(work, CALLS, None)
    kept = StepJournal(state, "task of another program")
    kept.once_each(work, CALLS, None)
    assert len(work.done) == 12
    assert kept.reused == 0
    assert StepJournal(state, "task").finished == 0


@pytest.mark.parametrize(
    "content", [b"format: oltpsim\n", b"\xff\xfe", b'["format"]\n', b'{"format": "oltpsim-calibration-1"}\n']
)
def test_a_file_of_something_else_is_left_as_it_is(content: bytes, tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.write_bytes(content)
    with pytest.raises(InputError, match="holds no steps of a stopped command"):
        StepJournal(state, "task")
    assert state.read_bytes() == content
    state.write_bytes(b"")
    StepJournal(state, "task").once_each(Work(), CALLS, None)
    assert StepJournal(state, "task").finished == 6, "the negative twin: an empty file is nobody's"


@pytest.mark.parametrize("cut", [1, 5, 9])
def test_half_a_step_is_none(cut: int, tmp_path: Path) -> None:
    state, work = tmp_path / "state", Work()
    StepJournal(state, "task").once_each(Work(), CALLS, None)
    state.write_text(state.read_text(encoding="utf-8")[:-cut], encoding="utf-8")
    kept = StepJournal(state, "task")
    assert kept.finished == 5
    assert kept.once_each(work, CALLS, None) == [[number / 3.0] for number in range(6)]
    assert work.done == [5]
    assert StepJournal(state, "task").finished == 6, "the step that was cut is whole, and those before it are there"


def test_a_report_counts_what_is_done_and_names_what_begins_here() -> None:
    kept, said = StepJournal(None, "task"), list[tuple[int, str]]()
    kept.once("step 1", lambda: [0.0])
    kept.once_each(
        Work(), {name: CALLS[name] for name in ("step 0", "step 1", "step 2")}, None, lambda *at: said.append(at)
    )
    assert said == [(1, "step 0"), (2, ""), (2, "step 2"), (3, "")]
