"""A calculating process: one answer after the other, and of each place the newest question only."""

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from oltpsim.scenarios.page.calculator import CalculatingProcess, PageRequest
from oltpsim.simulator.errors import InputError


def wait_for(path: Path) -> str:
    (path.parent / f"{path.name} begun").touch()
    while not path.exists():
        time.sleep(0.02)
    return path.name


def end() -> None:
    os._exit(1)


@pytest.fixture
def process() -> Iterator[CalculatingProcess]:
    found = CalculatingProcess(1)
    yield found
    found.close()


def test_a_lost_process_is_said_and_another_one_takes_its_place(process: CalculatingProcess) -> None:
    with pytest.raises(InputError, match="ended"):
        process.call(PageRequest("one", 1), end)
    assert process.call(PageRequest("one", 2), abs, -3) == 3


def test_who_is_overtaken_ends_before_its_turn_and_the_others_dont(process: CalculatingProcess, tmp_path: Path) -> None:
    answers: dict[str, object] = {}

    def ask(name: str, request: PageRequest, number: int) -> threading.Thread:
        thread = threading.Thread(target=lambda: answers.update({name: process.call(request, abs, number)}))
        thread.start()
        return thread

    first = threading.Thread(
        target=lambda: answers.update(first=process.call(PageRequest("x", 1), wait_for, tmp_path / "go"))
    )
    first.start()
    while not (tmp_path / "go begun").exists():
        time.sleep(0.02)
    overtaken, other = ask("overtaken", PageRequest("y", 1), -1), ask("other", PageRequest("z", 1), -2)
    while process._latest.get("y") != 1:
        time.sleep(0.02)
    newest = ask("newest", PageRequest("y", 3), -4)
    overtaken.join()  # though the first one is still at work
    assert answers == {"overtaken": None}
    ask("late", PageRequest("y", 2), -5).join()  # sent before the newest, and arrived after it
    assert answers == {"overtaken": None, "late": None}
    (tmp_path / "go").touch()
    for thread in (first, other, newest):
        thread.join()
    assert answers == {"overtaken": None, "late": None, "first": "go", "other": 2, "newest": 4}
    process.close()
    with pytest.raises(InputError, match="has ended"):
        process.call(PageRequest("x", 2), abs, 1)


def test_it_ends_in_the_middle_of_a_call_that_says_so(process: CalculatingProcess, tmp_path: Path) -> None:
    refusals: list[str] = []

    def ask() -> None:
        try:
            process.call(PageRequest("x", 1), wait_for, tmp_path / "never")
        except InputError as error:
            refusals.append(str(error))

    thread = threading.Thread(target=ask)
    thread.start()
    while not (tmp_path / "never begun").exists():
        time.sleep(0.02)
    process.close()
    thread.join()
    assert refusals == ["the page has ended; start it again"]
