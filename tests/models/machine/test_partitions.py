"""SSD arrays in scenario files: sets of disks as partitions, controllers, a striped log; and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build
from oltpsim.scenarios.show.words import configuration_line
from oltpsim.simulator import analytic
from oltpsim.simulator.errors import Infeasible, InputError
from oltpsim.simulator.form import RaidSet
from oltpsim.simulator.kernel import simulate

TINY = Path(__file__).parents[2] / "scenarios" / "tiny.yaml"
CAP = "{of: requests, per_s: 500, source: a test}"
ARRAY = (
    "machine.disks.disk=slc-array-ssd", "machine.disks.count=12", "machine.disks.level=raid0", "machine.disks.sets=4",
    "machine.log_disk=slc-array-ssd", "machine.log_disks=3", "database.io=direct", "database.log.commit=durable",
    "machine.cpu.cores=8", "workload.arrivals.clients=30",
)  # fmt: skip
CONTROLLED = (*ARRAY, "machine.disks.controllers=2", f"machine.disks.controller_limits=[{CAP}]")


def tiny(*overrides: str) -> ScenarioSpec:
    return load_scenario(TINY, overrides)


def test_disks_make_equal_sets_that_the_database_stripes_over() -> None:
    scenario = tiny(*ARRAY)
    storage = build(scenario).storage
    assert (storage.data_devices, storage.log_device, len(storage.devices)) == (4, 4, 5)
    sets = [device for device in storage.devices if isinstance(device, RaidSet)]
    assert [(each.name, len(each.disks)) for each in sets] == [
        *((f"RAID 0 set {n}", 3) for n in (1, 2, 3, 4)), ("log set", 3),
    ]  # fmt: skip
    assert "as RAID 0 in 4 sets + 3 log disks" in configuration_line(scenario)
    result = simulate(build(scenario), 1)
    assert not result.broken_laws
    reads = [device.reads_per_s for device in result.devices[:4]]
    assert max(reads) < 1.4 * min(reads), "pages go round the sets"
    logged = sum(device.writes_per_s for device in result.devices[-3:])
    assert logged == pytest.approx(result.log.flushes_per_s, rel=0.2)


def test_one_set_is_named_as_before_and_changes_nothing() -> None:
    one = tiny(*ARRAY[:3], "machine.disks.sets=1")
    assert [device.name for device in build(one).storage.devices] == ["RAID 0 set"]
    assert build(one).digest() == build(tiny(*ARRAY[:3])).digest()
    assert build(one).digest() != build(tiny(*ARRAY[:3], "machine.disks.sets=2")).digest()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (("machine.disks.sets=5",), r"machine\.disks\.sets: got 5; 12 disks .* don't make so many"),
        (("machine.disks.level=independent",), r"machine\.disks\.sets: got 4; independent disks make none"),
        (("machine.disks.sets=12",), r"machine\.disks\.count: got 12 for 12 sets; RAID 0 takes at least 2 disks"),
        (("machine.disks.controllers=2",), r"machine\.disks\.controllers: given without controller_limits"),
        ((f"machine.disks.controller_limits=[{CAP}]",), r"controller_limits: given without controllers"),
        (
            ("machine.disks.controllers=3", f"machine.disks.controller_limits=[{CAP}]"),
            r"machine\.disks\.controllers: got 3; 4 sets .* can't be dealt to them evenly",
        ),
        (("machine.log_disk=null",), r"machine\.log_disks: got 3 without a log_disk"),
    ],
)
def test_what_does_not_go_together_is_refused(settings: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError, match=said):
        tiny(*ARRAY, *settings)


def test_limits_of_machine_and_controllers_exclude_each_other_and_arms() -> None:
    with pytest.raises(InputError, match="together with machine"):
        tiny(*CONTROLLED, f"machine.volume_limits=[{CAP}]")
    with pytest.raises(InputError, match="has an arm"):
        tiny(*CONTROLLED, "machine.disks.disk=sata-7200")


def test_each_set_has_the_room_of_its_disks() -> None:
    with pytest.raises(Infeasible, match=r"4 RAID 0 sets of 3 GiB, of which the log takes 1 GiB each"):
        tiny(*ARRAY, "machine.disks.disk.capacity_gib=1", "workload.warehouses=300")


def test_controllers_let_through_what_they_may_each() -> None:
    """Two of 500 requests/s each; the twin with one limit for all four sets halves it. Analytic: doubts."""
    model = build(tiny(*CONTROLLED))
    result = simulate(model, 1)
    asked = [sum(device.reads_per_s + device.writes_per_s for device in result.devices[n : n + 2]) for n in (0, 2)]
    assert [limit.name for limit in result.volume_limits] == [f"controller {n} (cap of 500 requests/s)" for n in (1, 2)]
    assert max(asked) < 505
    assert sum(asked) > 880, "thirty clients don't always ask both"
    busy = [limit.utilisation for limit in result.volume_limits]
    assert busy == pytest.approx([each / 500 for each in asked], abs=0.01)
    assert result.bottleneck.name.startswith("controller ")
    one = (*CONTROLLED, "machine.disks.controllers=1")
    assert simulate(build(tiny(*one)), 1).rate_per_min.mean < 0.65 * result.rate_per_min.mean
    found = analytic.simulate(model, 1)
    assert found.rate_per_min.mean == pytest.approx(result.rate_per_min.mean, rel=0.4)
    assert any("disks that share controllers" in warning for warning in found.warnings)
    assert found.volume_limits[0].name == "all controllers (cap of 1,000 requests/s)"
