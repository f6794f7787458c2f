"""Calls on any executor: each answer as soon as it is there, nothing begun that nobody waits for."""

from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import pytest

from oltpsim.calibration.workers import finished_calls

SQUARES = {str(number): (number, 2) for number in range(8)}


class Waiting(Executor):
    """An executor whose calls are done, or never, as `answers` says of them."""

    def __init__(self, answers: Callable[[int], bool]) -> None:
        self.answers = answers
        self.futures: list[Future[Any]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **_: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if self.answers(len(self.futures)):
            future.set_result(fn(*args))
        self.futures.append(future)
        return future


def test_any_executor_answers_the_same() -> None:
    with ThreadPoolExecutor(3) as threads:
        assert dict(finished_calls(threads, pow, SQUARES)) == dict(finished_calls(None, pow, SQUARES))


def test_calls_here_are_in_their_order_and_begin_when_the_one_before_is_taken() -> None:
    begun: list[str] = []
    finished = finished_calls(None, pow, SQUARES, begun.append)
    assert next(finished) == ("0", 0)
    assert begun == ["0"]
    assert [name for name, _ in finished] == list(SQUARES)[1:]


def test_who_stops_listening_cancels_what_has_not_begun() -> None:
    executor = Waiting(lambda number: number == 0)
    finished = finished_calls(executor, pow, SQUARES)
    assert next(finished) == ("0", 0)
    finished.close()
    assert [future.cancelled() for future in executor.futures] == [False] + [True] * 7


def test_a_call_that_fails_is_not_taken_for_one_that_answers() -> None:
    with ThreadPoolExecutor(1) as threads, pytest.raises(ZeroDivisionError):
        list(finished_calls(threads, pow, {"bad": (0, -1), **SQUARES}))


def test_a_call_that_fails_loses_no_answer_that_is_there() -> None:
    with ThreadPoolExecutor(2) as threads:
        executor = Waiting(lambda _: False)
        calls = finished_calls(executor, pow, SQUARES)
        answers: list[str] = []

        def listen() -> None:
            answers.extend(name for name, _ in calls)

        listening = threads.submit(listen)
        while len(executor.futures) < len(SQUARES):
            pass
        for number in (1, 2, 5):
            executor.futures[number].set_result(number**2)
        executor.futures[4].set_exception(ZeroDivisionError())
        with pytest.raises(ZeroDivisionError):
            listening.result()
    assert sorted(answers) == ["1", "2", "5"]
    assert all(executor.futures[number].cancelled() for number in (0, 3, 6, 7))


def test_an_interruption_loses_nothing_that_is_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    executor = Waiting(lambda number: number in {0, 3})

    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("oltpsim.calibration.workers.calls.as_completed", interrupted)
    finished = finished_calls(executor, pow, SQUARES)
    assert [next(finished), next(finished)] == [("0", 0), ("3", 9)]
    with pytest.raises(KeyboardInterrupt):
        next(finished)
