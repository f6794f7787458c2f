"""What the benchmarks print: turns, medians, ratios, goals. No time is measured here."""

from collections.abc import Callable

import pytest

from benchmarks.page import Goal, Section, at_least, at_most, figure, goals_table
from benchmarks.race import Contestant, Outcome, race


def scripted(name: str, seconds: list[float], calls: list[str]) -> Contestant:
    """A contestant whose runs take so long, by the number of the round."""

    def run(number: int) -> Outcome:
        calls.append(f"{name}{number}")
        return Outcome(seconds[number], 100.0, answer=float(number))

    return Contestant(name, run)


def test_contestants_run_in_turn_and_the_first_rounds_do_not_count() -> None:
    calls: list[str] = []
    both = [scripted("a", [9.0, 1.0, 2.0], calls), scripted("b", [9.0, 4.0, 4.0], calls)]
    a, b = race(both, rounds=2, warm_up=1)
    assert calls == ["a0", "b0", "a1", "b1", "a2", "b2"]
    assert [outcome.seconds for outcome in a.outcomes] == [1.0, 2.0]
    assert [outcome.seconds for outcome in b.outcomes] == [4.0, 4.0]
    assert a.answer == 1.5


def test_figures_are_medians() -> None:
    (standing,) = race([scripted("a", [1.0, 2.0, 50.0], [])], rounds=3, warm_up=0)
    assert standing.seconds == 2.0
    assert standing.rate == 50.0


def test_a_ratio_is_the_median_of_the_rounds_ratios() -> None:
    # The machine slows down round by round, and both with it: medians of the times would say something else.
    fast, slow = [1.0, 10.0, 100.0], [5.0, 20.0, 300.0]
    a, b = race([scripted("a", fast, []), scripted("b", slow, [])], rounds=3, warm_up=0)
    assert a.times_faster_than(b) == 3.0
    assert b.seconds / a.seconds == 2.0
    assert b.times_faster_than(a) == pytest.approx(1 / 3)
    assert a.times_faster_than(a) == 1.0


def test_work_counts_not_only_time() -> None:
    whole = Contestant("whole", lambda _: Outcome(10.0, 1000.0))
    tenth = Contestant("tenth", lambda _: Outcome(2.0, 100.0))
    a, b = race([whole, tenth], rounds=1, warm_up=0)
    assert a.times_faster_than(b) == 2.0


@pytest.mark.parametrize(
    ("goal", "limit", "value", "met"),
    [
        (at_least, 100, 26.4, False),
        (at_least, 100, 100.0, True),
        (at_most, 1.3, 1.31, False),
        (at_most, 1.3, 1.3, True),
        (at_most, 1.3, 0.2, True),
        (at_least, 0, None, None),
        (at_most, 5, None, None),
    ],
)
def test_a_goal_is_met_or_not(
    goal: Callable[[str, float, float | None], Goal], limit: float, value: float | None, met: bool | None
) -> None:
    assert goal("times faster:", limit, value).met is met


def test_a_missed_goal_says_so_in_its_section_and_on_top() -> None:
    missed, unknown = at_least("times faster:", 100, 26.4), at_most("seconds:", 5, None)
    section = Section("Race", ["A text."], [missed, unknown])
    assert "- Goal: times faster: at least 100: falls short at 26.4." in section.text()
    assert "- Goal: seconds: at most 5: not measured." in section.text()
    assert "| Race | times faster: at least 100 | 26.4 | no |" in goals_table([section])
    assert "| Race | seconds: at most 5 |  | not measured |" in goals_table([section])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1184, "0.118"),
        (26.44, "26.4"),
        (100.0, "100"),
        (634.4, "634"),
        (7723.0, "7723"),
        (27_740.0, "27.7 k"),
        (999_000.0, "999 k"),
        (1_180_000.0, "1.18 M"),
        (57_340_000.0, "57.3 M"),
    ],
)
def test_figures_have_three_digits(value: float, text: str) -> None:
    assert figure(value) == text
