"""Answers of the page are those of the commands."""

from pathlib import Path

import pytest

import oltpsim
from oltpsim.scenarios.page.answers import (
    MODEL_ALONE,
    ONCE_WARM,
    calculated_answer,
    curve_drawings,
    interval_answer,
    slider_places,
)
from oltpsim.scenarios.page.folder import PageFolder
from oltpsim.scenarios.page.question import PageQuestion
from oltpsim.simulator.errors import InputError

DESCRIBED = "8 cores, 32 GB, SSD, PostgreSQL 16"


@pytest.mark.parametrize("machine", ["v20z", "postgresql-15", DESCRIBED])
@pytest.mark.parametrize("values", [(), (("machine.memory_gib", 4.0), ("machine.disks.count", 2.0))])
def test_the_rate_and_its_interval_are_those_of_the_python_interface(
    machine: str, values: tuple[tuple[str, float], ...]
) -> None:
    question = PageQuestion(machine, tuple(each for each in values if machine == "v20z" or "disks" in each[0]))
    load = oltpsim.describe if machine == DESCRIBED else oltpsim.load
    wanted = oltpsim.run(load(machine, dict(question.values)), engine="analytic")
    answer, interval = calculated_answer(question), interval_answer(question)
    assert answer.rate_per_min == pytest.approx(wanted.new_orders_per_min, rel=1e-9)
    ends = pytest.approx((wanted.low_per_min, wanted.high_per_min), rel=1e-9)
    assert (interval.low_per_min, interval.high_per_min) == ends
    assert answer.bottleneck.startswith(wanted.bottleneck)


@pytest.mark.parametrize(
    ("machine", "model", "is_beyond"),
    [("postgresql-15", "postgresql", False), (DESCRIBED, "postgresql", True), ("v20z", "postgresql", True)],
)
def test_with_a_model_they_are_those_of_the_python_interface_too(
    machine: str, model: str, is_beyond: bool, tmp_path: Path
) -> None:
    values = (("workload.arrivals.clients", 24.0),) if is_beyond else ()
    question = PageQuestion(machine, values, model)
    file = PageFolder(tmp_path).model(question)
    load = oltpsim.describe if machine == DESCRIBED else oltpsim.load
    asked = load(machine, dict(question.values))
    wanted = oltpsim.run(asked, engine="analytic", model=oltpsim.read_model(model))
    answer, interval = calculated_answer(question, file), interval_answer(question, file)
    assert answer.rate_per_min == pytest.approx(wanted.new_orders_per_min, rel=1e-9)
    ends = pytest.approx((wanted.low_per_min, wanted.high_per_min), rel=1e-9)
    assert (interval.low_per_min, interval.high_per_min) == ends
    assert answer.model.startswith("PostgreSQL 15")
    said = dict(interval.model)
    assert said["model"].startswith(answer.model)
    assert said["certificate"].startswith("validated by leaving out")
    assert ("beyond the runs" in said) is is_beyond
    # Without the model the same question has another answer, which names none.
    other, its_interval = calculated_answer(question), interval_answer(question)
    assert (other.model, its_interval.model) == ("", ())
    assert (its_interval.low_per_min, its_interval.high_per_min) != (interval.low_per_min, interval.high_per_min)


def test_the_curves_are_of_the_model_too(tmp_path: Path) -> None:
    question = PageQuestion("postgresql-15", (), "postgresql")
    file = PageFolder(tmp_path).model(question)
    rates = [f"{calculated_answer(question, each).rate_per_min:,.0f}/min" for each in (file, None)]
    drawn = [curve_drawings(question, each)[0].alternative for each in (file, None)]
    assert [rate in words for words in drawn for rate in rates] == [True, False, False, True]


@pytest.mark.parametrize(("machine", "unit"), [("postgresql-15", "NOPM"), ("pgbench/select-only-250", "per minute")])
def test_only_new_orders_per_minute_are_nopm(machine: str, unit: str) -> None:
    answer = calculated_answer(PageQuestion(machine))
    assert answer.short_unit == unit
    assert (answer.unit == "new orders per minute") is (unit == "NOPM")


def test_a_percentile_is_there_or_the_reason_why_not() -> None:
    assert calculated_answer(PageQuestion("postgresql-15")).p95.endswith("ms")
    without = calculated_answer(PageQuestion("v20z"))
    assert without.p95.startswith("none: the model error of p95 is above a factor of 5")
    assert not any(text.startswith("percentiles") for text in without.warnings)


def test_curves_have_buffers_with_the_cliff_clients_and_one_more_of_each_with_money() -> None:
    drawings = {each.key: each for each in curve_drawings(PageQuestion("v20z"))}
    assert list(drawings) == ["buffers", "clients", "steps"]
    assert "cliff" in drawings["buffers"].alternative
    assert "reads that the page cache serves: now" in drawings["buffers"].alternative
    assert "that the page cache serves, 100 % at the top" in str(drawings["buffers"].legend)
    assert "USD" in drawings["steps"].alternative
    assert "80 clients" in str(drawings["clients"].legend)


@pytest.mark.parametrize(("machine", "says"), [("v20z", True), ("postgresql-15", False)])
def test_curves_of_a_warm_machine_beside_a_run_that_begins_cold_say_so(machine: str, says: bool) -> None:
    assert all((ONCE_WARM in each.caption) is says for each in curve_drawings(PageQuestion(machine)))


@pytest.mark.parametrize(("machine", "says"), [("8 cores, 32 GB, NVMe, PostgreSQL 17", True), ("postgresql-15", False)])
def test_curves_beside_a_corrected_rate_say_that_they_are_the_model_s(machine: str, says: bool) -> None:
    assert all((MODEL_ALONE in each.caption) is says for each in curve_drawings(PageQuestion(machine)))


def test_a_machine_without_a_number_of_clients_has_no_curve_of_them() -> None:
    assert "clients" not in {each.key for each in curve_drawings(PageQuestion("million-orders"))}


def test_sliders_stand_where_the_question_is() -> None:
    question = PageQuestion("v20z", (("machine.memory_gib", 5.0),))
    for places in slider_places(question):
        wanted = dict(question.values).get(places.slider.key)
        assert wanted is None or places.values[places.at] == wanted
        if places.slider.key == "machine.cpu.cores":
            assert places.values[places.at] == 2.0


def test_a_machine_that_cant_run_the_load_gives_the_reason_in_numbers() -> None:
    with pytest.raises(InputError, match="buffers"):
        calculated_answer(PageQuestion("v20z", (("database.pool.buffers", 1_900_000.0),)))
