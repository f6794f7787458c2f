"""Where a measurement would fall: every part has its reason, and is gone where the reason is."""

import math
from dataclasses import replace

import pytest

from oltpsim.calibration.fit import steady_rates
from oltpsim.calibration.predict import (
    CHANCE,
    FORMULAS,
    MISSED,
    ONE_RUN,
    measurement_interval,
    part_factor,
    part_factors,
    slower,
)
from oltpsim.models.input import value_at
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.library import load_scenario_file, scenario_path
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.results import Estimate

STEADY = Estimate(8_000.0, 7_840.0, 8_160.0, 0.9, "batch means")
RAMPING = Estimate(8_000.0, None, None, 0.9, "not steady: it rises")
ON_DISK = "v20z-43000-buffers"
ON_CPU = "postgresql-15"


def scenario(name: str, *settings: str) -> ScenarioSpec:
    return load_scenario_file(scenario_path(name), settings)


def sds(name: str, *settings: str, rate: Estimate = STEADY) -> dict[str, float]:
    return {part.what: part.sd for part in measurement_interval(scenario(name, *settings), rate).rate.parts}


def test_parts_add_up_and_the_rate_is_in_the_middle() -> None:
    found = measurement_interval(scenario(ON_CPU), STEADY).rate
    assert found.confidence == 0.9
    assert found.low * found.high == pytest.approx(STEADY.mean**2)
    assert found.sd == pytest.approx(math.sqrt(sum(part.sd**2 for part in found.parts)))
    assert math.log(found.high / STEADY.mean) > 1.64 * found.sd
    assert list(found.parts) == sorted(found.parts, key=lambda part: -part.sd)


def test_a_part_that_is_assumed_is_less_known_than_one_with_a_data_sheet() -> None:
    key = "machine.cpu.source"
    speed = "speed of current x86-64 server core, about 3 GHz"
    texts = ('"assumption: alike"', "SPECrate of the model")
    assumed, known = (sds(ON_CPU, f"{key}={text}")[speed] for text in texts)
    factors = part_factors()
    assert assumed / known == pytest.approx(math.log(factors["assumption"]) / math.log(factors["data_sheet"]), rel=0.1)


@pytest.mark.parametrize(
    ("source", "assumed"),
    [
        ("assumption: typical of the class", True),
        ("Amazon's description; speed: assumption as in the catalogue", True),
        ("As sata-7200 (assumption: typical of the class)", True),
        ("Data sheet (from memory): 95,000 reads/s", True),
        ("Ultrastar 146Z10, specification of 2002. Assumptions: the article names no maker", False),
        ("SPECrate of the model", False),
    ],
)
def test_a_source_says_whether_its_part_is_assumed(source: str, assumed: bool) -> None:
    assert part_factor(source) == part_factors()["assumption" if assumed else "data_sheet"]


def test_the_reference_core_is_known_by_definition() -> None:
    assert not any(what.startswith("speed of") for what in sds(ON_DISK))
    assert any(what.startswith("speed of") for what in sds(ON_CPU, "machine.cpu.relative_speed=1"))
    assert any(what.startswith("speed of") for what in sds("v20z-10-warehouses", "machine.cpu.relative_speed=1.2"))


def test_a_machine_on_its_disk_is_as_uncertain_as_the_disk() -> None:
    disk, cpu = "times of 73 GB SCSI, 10,000 rpm", "row_operation_us of Virtuoso, before the 5.0 overhaul"
    found = sds(ON_DISK)
    assert 0.5 * math.log(part_factors()["data_sheet"]) < found[disk] < math.log(part_factors()["data_sheet"])
    assert found.get("row_operation_us", 0.0) < 0.02 < sds(ON_CPU)["row_operation_us"], cpu


def test_engines_nobody_fitted_are_less_known() -> None:
    fitted = sds(ON_CPU)["row_operation_us"]
    assert sds(ON_CPU, "database.name=An engine of our own")["row_operation_us"] > 2.0 * fitted


def test_chance_counts_where_it_is_known() -> None:
    assert sds(ON_CPU)[CHANCE] == pytest.approx(0.02 / 1.645, rel=0.01)
    assert CHANCE not in sds(ON_CPU, rate=RAMPING)
    assert sds(ON_CPU, rate=replace(STEADY, low=6_400.0, high=10_000.0))[CHANCE] > 0.1


def test_formulas_err_and_a_simulation_does_not() -> None:
    found = sds(ON_CPU, "engine=analytic")
    assert found[FORMULAS] > 0.0
    assert CHANCE not in found
    assert FORMULAS not in sds(ON_CPU)


def test_a_machine_that_waits_for_load_does_what_is_asked() -> None:
    idle = sds("ssd-arrays/small-run")
    assert idle.get(MISSED, 0.0) < 0.01 < idle[ONE_RUN]
    assert sds(ON_CPU)[MISSED] > 0.1


def test_page_cleaners_leave_as_much_open_as_other_writers() -> None:
    found = measurement_interval(scenario("innodb/hammerdb-80-users"), STEADY).rate
    assert any(part.what == "row_operation_us" for part in found.parts)
    assert STEADY.mean / 10 < found.low < 0.8 * STEADY.mean


def test_a_machine_without_formulas_has_no_interval() -> None:
    with pytest.raises(InputError, match="operation flush"):
        measurement_interval(scenario("scaleout/tpcc-servers"), STEADY)


def test_a_slower_disk_keeps_a_providers_caps() -> None:
    """Unless they are meant: then all that a machine's speed may hang on is slower."""
    volume = scenario(ON_DISK, "machine.disks={disk: gp3 500 GiB, count: 1}")
    disk = volume.machine.disks.disk
    assert disk.kind == "flash"
    assert disk.limits

    def slowed(*, with_caps: bool) -> tuple[float, float]:
        found = slower(volume, disk, 2.0, with_caps=with_caps).machine.disks.disk
        assert found.kind == "flash"
        return found.read_latency_us / disk.read_latency_us, found.limits[0].per_s / disk.limits[0].per_s

    assert slowed(with_caps=False) == (2.0, 1.0)
    assert slowed(with_caps=True) == (2.0, 0.5)


def test_two_machines_are_wrong_alike() -> None:
    """Two disks in the place of one: what is wrong of both leaves their ratio as it is, so that it is known better."""
    one, two, other = (
        measurement_interval(scenario(name, *words), STEADY).rate
        for name, *words in ((ON_DISK,), (ON_DISK, "machine.disks.count=2"), (ON_CPU,))
    )
    ratio = two / one
    assert ratio.low < ratio.value < ratio.high
    assert math.log(ratio.high / ratio.value) < 1.64 * 0.8 * math.hypot(one.sd, two.sd)
    apart = other / one
    assert math.log(apart.high / apart.value) > 1.64 * 0.95 * math.hypot(one.sd, other.sd)


def test_moves_are_those_of_the_formulas() -> None:
    """Both ends of a number that is uncertain by 15 % are machines whose rates the engine gives."""
    base = scenario(ON_DISK)
    factor = part_factors()["data_sheet"]
    names = ("seek_track_to_track_ms", "seek_average_ms", "seek_full_stroke_ms", "write_settle_ms", "overhead_ms")
    slow = [f"machine.disks.disk.{name}={getattr(base.machine.disks.disk, name) * factor}" for name in names]
    slow.append(
        f"machine.disks.disk.transfer_mib_per_s={value_at(base, 'machine.disks.disk.transfer_mib_per_s') / factor}"
    )
    middle, slower = steady_rates(base, scenario(ON_DISK, *slow))
    move = next(
        each.sd
        for each in measurement_interval(base, STEADY).rate.components
        if each.key == "times of 73 GB SCSI, 10,000 rpm"
    )
    assert move < 0.0
    assert math.log(slower.new_orders_per_min / middle.new_orders_per_min) == pytest.approx(move, rel=0.15)
