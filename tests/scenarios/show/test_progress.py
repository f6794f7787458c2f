"""Time left: the mean pace of what is finished, which a task that stays out makes longer, never shorter."""

import pytest

from oltpsim.scenarios.show.progress import TimeLeft


def after(*words: tuple[float, float]) -> TimeLeft:
    left = TimeLeft()
    for now_s, share in words:
        left.advance(now_s, share)
    return left


def test_equal_tasks_are_counted_down() -> None:
    left = after((0.0, 0.0), (10.0, 0.1), (20.0, 0.2))
    assert left.at(20.0) == pytest.approx(80.0)
    assert left.at(25.0) == pytest.approx(75.0)
    assert left.words(20.0) == ", about 80 s left"


def test_a_task_that_stays_out_makes_it_longer() -> None:
    left = after((0.0, 0.0), (10.0, 0.1), (20.0, 0.2))
    expected = [left.at(now_s) or 0.0 for now_s in (30.0, 60.0, 120.0)]
    assert expected == sorted(expected)
    assert expected[0] == pytest.approx(70.0)
    assert expected[-1] > 200.0


@pytest.mark.parametrize("words", [(), ((0.0, 0.0),), ((0.0, 0.3), (5.0, 0.3))])
def test_nothing_is_said_before_anything_is_finished(words: tuple[tuple[float, float], ...]) -> None:
    left = after(*words)
    assert left.at(60.0) is None
    assert left.words(60.0) == ""


def test_another_part_has_a_clock_of_its_own() -> None:
    left = after((0.0, 0.0), (1000.0, 0.9), (1000.0, 0.0), (1001.0, 0.5))
    assert left.at(1001.0) == pytest.approx(1.0)


def test_what_was_kept_before_says_nothing_of_the_pace() -> None:
    left = after((0.0, 0.9), (10.0, 0.95))
    assert left.at(10.0) == pytest.approx(10.0)
