"""How far a scenario is from a model's runs: sizes and rates are compared where they are of the same transactions."""

from __future__ import annotations

from pathlib import Path

from oltpsim.calibration.fit import calibration_path, read_calibration
from oltpsim.calibration.predict.beyond import beyond_in_kind, beyond_in_numbers, unseen_parts
from oltpsim.scenarios.library import load_scenario_file, scenario_path

FAR = {"clients": 1e6, "warehouses": 1e6, "new orders/min": 1e9}


def distances(model: str, scenario: str) -> tuple[list[str], list[str]]:
    calibration = read_calibration(calibration_path(Path(model)))
    loaded = load_scenario_file(scenario_path(scenario))
    return list(beyond_in_kind(calibration, loaded)), list(beyond_in_numbers(calibration, loaded, FAR))


def test_rows_are_no_warehouses() -> None:
    kinds, numbers = distances("postgresql", "pgbench/simple-update-250")
    assert "a workload that no run of the model had: pgbench, simple update" in kinds
    assert [each.partition(" the ")[2] for each in numbers] == ["clients of any run you gave"]


def test_other_warehouses_are_compared() -> None:
    kinds, numbers = distances("postgresql", "postgresql-15")
    assert not any("workload" in each for each in kinds)
    assert {each.partition(" the ")[2] for each in numbers} == {f"{each} of any run you gave" for each in FAR}


def test_the_same_rows_have_their_own_names() -> None:
    kinds, numbers = distances("pgbench-updates", "pgbench/simple-update-250")
    assert not any("workload" in each for each in kinds)
    assert {each.partition(" the ")[2] for each in numbers} == {
        f"{each} of any run you gave" for each in ("clients", "units of scale", "transactions/min")
    }


def test_another_part_of_the_bases_machine_is_said() -> None:
    """Whose name alone was taken to say that all is known."""
    mysql, name = read_calibration(calibration_path(Path("mysql"))), scenario_path("innodb/hammerdb-80-users")
    assert unseen_parts(mysql, load_scenario_file(name)) == {}
    for settings, part, words in (
        (("machine.disks.disk=sata-ssd",), "disk", "SATA SSD"),
        (("machine.cpu.sockets=4",), "processor", "2 x Xeon Gold 6230, 4 sockets"),
        (("machine.cpu=server-2020s", "machine.cpu.sockets=2"), "processor", "current x86-64 server core, about 3 GHz"),
        (("database.page_kib=4", "workload.layout=tpcc-innodb-4k"), "page size", "4 KiB"),
    ):
        assert unseen_parts(mysql, load_scenario_file(name, settings)) == {part: words}
    for unchanged in ("machine.memory_gib=100", "machine.disks.count=2", "machine.cpu.cores=20"):
        assert unseen_parts(mysql, load_scenario_file(name, (unchanged,))) == {}, "which is said in numbers"
