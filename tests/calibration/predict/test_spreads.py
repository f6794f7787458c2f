"""Spreads of numbers by their sources: of parts that no run of a model had they are in its intervals, of others not."""

from pathlib import Path

import pytest

from oltpsim.calibration.fit import FigureKind, calibration_path, read_calibration
from oltpsim.calibration.predict import measurement_interval, unseen_moves
from oltpsim.calibration.predict.beyond import unseen_parts
from oltpsim.calibration.predict.spreads import figures_of, moved_by_ends, uncertain_numbers
from oltpsim.scenarios.library import load_scenario_file, scenario_path
from oltpsim.simulator.results import Estimate

MYSQL = read_calibration(calibration_path(Path("mysql")))
OF_ITS_KIND, OF_ANOTHER = "innodb/hammerdb-80-users", "postgresql-15"
RATE = Estimate(300_000.0, 297_000.0, 303_000.0, 0.9, "a test")


def test_a_database_that_no_run_had_has_the_spread_of_its_source() -> None:
    scenario = load_scenario_file(scenario_path(OF_ANOTHER), ("machine.name=another box",))
    assert {"database", "page size", "processor"} <= unseen_parts(MYSQL, scenario).keys()
    moves = unseen_moves(MYSQL, scenario)
    assert any(name.startswith("database.path.") and name.endswith(" of PostgreSQL 15") for name in moves)
    by_number = {each.name: each for each in uncertain_numbers(scenario)}
    assert moves.keys() <= by_number.keys()
    name = max(moves, key=lambda each: abs(moves[each][FigureKind.RATE]))
    middle, *ends = figures_of([scenario, by_number[name].up, by_number[name].down])
    assert middle is not None
    rates = [None if end is None else end[FigureKind.RATE] for end in ends]
    assert moves[name][FigureKind.RATE] == pytest.approx(moved_by_ends(middle[FigureKind.RATE], *rates))


def test_a_machine_of_the_runs_has_none() -> None:
    scenario = load_scenario_file(scenario_path(OF_ITS_KIND))
    assert unseen_parts(MYSQL, scenario) == {}
    assert unseen_moves(MYSQL, scenario) == {}


def test_an_interval_is_wider_by_what_no_run_had() -> None:
    """By name; the same machine with the parts of the runs has no such part."""
    mine = measurement_interval(load_scenario_file(scenario_path(OF_ITS_KIND)), RATE, MYSQL)
    scenario = load_scenario_file(scenario_path(OF_ANOTHER), ("machine.name=another box",))
    other = measurement_interval(scenario, RATE, MYSQL)
    added = {part.what for part in other.rate.parts} - {part.what for part in mine.rate.parts}
    assert "transaction_us" in added
    assert other.rate.sd > mine.rate.sd


def test_moves_by_one_end_and_by_none() -> None:
    assert moved_by_ends(1.0, 1.3, None) == pytest.approx(0.3)
    assert moved_by_ends(1.0, 0.7, 1.3) == pytest.approx(-0.3)
    assert moved_by_ends(1.0, None, None) == 0.0
