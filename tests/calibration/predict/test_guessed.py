"""Intervals of described machines: guesses move the rate by what they are worth, and their variances add up."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from oltpsim.calibration.fit import (
    Calibration,
    FigureKind,
    FitTask,
    StepJournal,
    calibration_of,
    measured_runs,
    parse_vary,
    run_fit,
)
from oltpsim.calibration.predict import (
    CALIBRATED,
    MISSED,
    ONE_RUN,
    Guesses,
    MeasurementInterval,
    Predicted,
    guess_moves,
    guesses_of,
    measurement_interval,
    predict_scenario,
    unseen_moves,
)
from oltpsim.calibration.predict.guessed import figure_logs, left_open, moved_by
from oltpsim.models.input import value_at
from oltpsim.models.jobs import run_job
from oltpsim.models.reading import Description, Origin, read_description, with_values
from oltpsim.models.wiring import build
from oltpsim.simulator import analytic
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.results.recording import student_t_factor
from tests.calibration.synthetic import record, said_by

KNOWN = "SunFire V20z, Virtuoso 4, Solaris 10, 2 warehouses, 4 clients, in memory, 1 min, 20,000 buffers"
FAMILY = "box, Opteron 2.4 GHz, 2 GB, 1 SCSI, Virtuoso 4, Solaris 10, 2 warehouses, 4 clients, in memory, 1 min"
SPEED = "machine.cpu.relative_speed"
OF_PART = f"{SPEED}@AMD Opteron 244, 1.8 GHz"


def row_of(description: Description, key: str) -> Origin:
    (row,) = [each for each in description.rows if each.key == key]
    return row


def rate_moved(description: Description, row: Origin, model: Calibration | None = None) -> float:
    return moved_by(description, row, model, figure_logs(description.scenario, model))[FigureKind.RATE]


def predicted(description: Description, model: Calibration) -> Predicted:
    left = {**guesses_of(description, model).left_open, **unseen_moves(model, description.scenario)}
    return predict_scenario(model, description.scenario, None, left)


def beside_runs(line: str, settings: tuple[str, ...] = (), guesses: Guesses | None = None) -> MeasurementInterval:
    description = read_description(line, settings)
    scenario = description.scenario.model_copy(update={"engine": "analytic"})
    result = analytic.simulate(build(scenario), 1)
    return measurement_interval(scenario, result, None, guesses or guesses_of(description))


@pytest.fixture(scope="module")
def model() -> Calibration:
    """Of two runs of a machine whose processor is a tenth faster than the catalogue says."""
    base = read_description(KNOWN).scenario
    records = []
    for buffers in (2_000, 20_000):
        machine = with_values(base, {SPEED: 1.1, "database.pool.buffers": buffers})
        records.append(
            record(
                f"{buffers}", {FigureKind.RATE: said_by(machine)[FigureKind.RATE]}, machine, 4, buffers * 8 / (1 << 20)
            )
        )
    task = FitTask(tuple(measured_runs(records, base, {}, None)), (parse_vary(f"{OF_PART}=0.5..2", base),), starts=1)
    return calibration_of(run_fit(task, StepJournal(None, ""), lambda *_: None), base)


def test_a_load_follows_the_processor_so_its_guess_moves_it_by_its_factor() -> None:
    description = read_description("Opteron 2.4 GHz, 8 GB, 4 SCSI, Solaris 10, Virtuoso 4, load of 20 warehouses")
    row = row_of(description, SPEED)
    assert row.factor is not None
    assert rate_moved(description, row) == pytest.approx(math.log(row.factor), rel=1e-5), "in whole nanoseconds"
    assert rate_moved(description, row_of(description, "database.pool.buffers")) == 0.0


def test_a_guess_of_twice_the_factor_moves_twice_as_much() -> None:
    description = read_description("Opteron 2.4 GHz, 8 GB, 4 SCSI, Solaris 10, Virtuoso 4, load of 20 warehouses")
    row = row_of(description, SPEED)
    assert row.factor is not None
    twice = replace(row, factor=row.factor**2)
    assert rate_moved(description, twice) == pytest.approx(2 * rate_moved(description, row), rel=1e-5)


def test_other_values_as_good_move_by_their_distance() -> None:
    description = read_description(FAMILY)
    row = replace(row_of(description, SPEED), factor=None, others=("machine.cpu.relative_speed=0.5",))
    slow = read_description(FAMILY, ["machine.cpu.relative_speed=0.5"])
    logs = [figure_logs(each.scenario, None)[FigureKind.RATE] for each in (description, slow)]
    apart = logs[0] - logs[1]
    assert rate_moved(description, row) == pytest.approx(apart / math.sqrt(2.0), rel=1e-3)
    impossible = replace(row, others=("machine.memory_gib=0.01",))
    assert rate_moved(description, impossible) == 0.0


ON_EC2 = "m6i.2xlarge + gp2 200 GiB, MySQL 8.0, sysbench read-only, 1 table of 100000 rows, 16 clients"


def test_runs_of_machines_alike_correct_a_line_and_its_result() -> None:
    found = beside_runs(ON_EC2)
    assert found.nearby is not None
    assert found.engine_rate_per_min is not None
    assert found.rate.value == pytest.approx(found.engine_rate_per_min * found.nearby.factor)
    assert found.nearby.learned > 0.5
    assert "m6i" in found.nearby.nearest[0].run.line
    result = analytic.simulate(build(read_description(ON_EC2).scenario), 1)
    shown = found.applied(result)
    assert shown.rate_per_min.mean == pytest.approx(found.rate.value)
    assert found.applied(shown) == shown
    data = found.to_json()
    assert data["value_per_min"] == found.rate.value
    assert data["nearby"]["runs"][0]["measured_per_min"] == found.nearby.nearest[0].run.measured_per_min


def test_a_line_unlike_all_runs_keeps_the_engine_s_rate_and_is_less_sure() -> None:
    near, far = beside_runs(ON_EC2), beside_runs(FAMILY)
    assert far.nearby is not None
    assert far.rate.value == pytest.approx(far.engine_rate_per_min)
    assert far.rate.sd > 1.5 * near.rate.sd
    assert far.nearby.nearest == ()


def test_variances_of_runs_and_guesses_add_up() -> None:
    found, sure = beside_runs(FAMILY), beside_runs(FAMILY, guesses=Guesses({}, {}))
    parts = found.rate.parts
    assert found.rate.sd**2 == pytest.approx(sum(part.sd**2 for part in parts))
    assert [part.sd for part in parts] == sorted((part.sd for part in parts), reverse=True)
    assert "processor's speed" in {part.what for part in parts}
    assert sure.rate.sd < found.rate.sd
    assert "processor's speed" not in {part.what for part in sure.rate.parts}


def test_with_a_model_guesses_widen_its_own_interval(model: Calibration) -> None:
    description = read_description(FAMILY)
    own, found = predict_scenario(model, description.scenario).rate, predicted(description, model).rate
    assert found.value == own.value
    assert math.log(found.high / found.low) > math.log(own.high / own.low)
    left = left_open(description, guess_moves(description, calibration=model), model)
    left = {**left, **unseen_moves(model, description.scenario)}
    alone = sum(moves[FigureKind.RATE] ** 2 for moves in left.values())
    models = sum(own.sd_of(what) ** 2 for what in (CALIBRATED, ONE_RUN, MISSED))
    assert found.sd**2 == pytest.approx(alone + models)
    width = found.sd * student_t_factor(own.freedom * (found.sd / own.sd) ** 4, model.confidence)
    assert math.log(found.high / found.value) == pytest.approx(width)
    assert math.log(found.value / found.low) == pytest.approx(width)


def test_a_number_that_was_fitted_is_no_guess_any_more(model: Calibration) -> None:
    known, family = (
        predicted(read_description(KNOWN), model),
        predicted(read_description(FAMILY), model),
    )
    speeds = [
        [part.what for part in found.rate.parts if part.what.startswith("speed of ")] for found in (known, family)
    ]
    assert [len(each) for each in speeds] == [0, 1]
    assert "processor's speed" not in {part.what for part in family.rate.parts}
    assert known.scenario.machine.cpu.relative_speed == pytest.approx(1.1, rel=0.05)
    assert family.scenario.machine.cpu.relative_speed == 1.334


def test_a_job_has_its_own_figure() -> None:
    scenario = read_description("SunFire V20z, serial read").scenario
    assert math.exp(figure_logs(scenario, None)[FigureKind.RATE]) == pytest.approx(run_job(scenario).value)


def test_numbers_of_a_scenario() -> None:
    scenario = read_description(KNOWN).scenario
    assert value_at(scenario, "database.pool.buffers") == 20_000
    assert value_at(scenario, "database.pool.bufers") is None


def test_a_machine_that_cannot_be_is_refused(model: Calibration) -> None:
    with pytest.raises(InputError):
        predicted(read_description("Opteron 2.4 GHz, 2 GB, 1 SCSI, 150,000 buffers, 60000 warehouses"), model)


def test_what_is_left_open_is_every_guess_but_those_of_parts_that_have_a_source() -> None:
    description = read_description("2 cores, 4 GB, NVMe, 4 clients, pool 64 MB")
    moves = guess_moves(description)
    assert set(moves) == {row.key for row in description.rows if row.uncertain}
    assert moves[SPEED][FigureKind.RATE] > 0.1
    found = left_open(description, moves)
    assert "warehouses" in found
    assert "processor's speed" not in found, "its source has a spread, which every scenario's interval holds"
    said = read_description(
        "2 cores, 4 GB, NVMe, 4 clients, pool 64 MB, 2 warehouses, full page writes on, max_wal_size 8 GB",
        [
            "operating_system.page_cache.in_flight_pages=32",
            "operating_system.reserved_memory_gib=0.3",
            "database.checkpoint.interval_s=900",
            "machine.disks.disk.filled_fraction=1",
            "machine.disks.disk.flush_us=0",
            "machine.network.clients_on_server=true",
            "database.log.flush_overhead_us=100",
            "database.path.refill_fraction=0.1",
            "database.path.session_fraction=0",
        ],
    )
    assert left_open(said, guess_moves(said)) == {}


def test_a_database_without_formulas_has_the_guesses_of_one_with_a_writer() -> None:
    moves = guess_moves(read_description("MySQL 8.4 on 4 cores, 4 GB, NVMe, 4 warehouses"))
    assert moves["workload.arrivals.clients"][FigureKind.RATE] > 0.01


def test_a_guess_of_the_load_moves_the_response_and_not_the_rate_of_a_saturated_machine() -> None:
    """Twice the clients in one queue for a core: nearly the same rate, nearly twice the response."""
    moves = guess_moves(read_description("PostgreSQL, 1 core, 64 GB, NVMe, 40 warehouses"))
    clients = moves["workload.arrivals.clients"]
    assert clients[FigureKind.RESPONSE] > 3.0 * clients[FigureKind.RATE]
    assert left_open(read_description("PostgreSQL, 1 core, 8 GB, HDD"), {"nothing": clients}) == {}
