"""How full the drives of a described machine are: as its data make them."""

import copy
from typing import Any

from oltpsim.models.catalogue import expand_names
from oltpsim.models.input import set_value, value_at
from oltpsim.models.machine import SsdSpec
from oltpsim.models.reading.one_line.pieces import WHERE, Origin
from oltpsim.models.reading.values import with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.form import GIB, KIB

KEY = "machine.disks.disk.filled_fraction"
MOST_FILLED = 0.9
"""the other guess: makers advise to leave a tenth of a drive alone"""
SOURCE = (
    "the database's files and its log on an otherwise empty drive that is trimmed; or full to nine tenths, as AWS's "
    "guide of instance stores advises at most (leave 10 % unpartitioned)"
)


def filled_by_data(scenario: ScenarioSpec) -> ScenarioSpec:
    """The scenario with its data's SSDs as full as database and log make them, unless that is said."""
    disks, database = scenario.machine.disks, scenario.database
    if not isinstance(disks.disk, SsdSpec) or "filled_fraction" in disks.disk.model_fields_set:
        return scenario
    log_gib = 0.0
    if scenario.machine.log_disk is None:
        cleaner, checkpoint = database.page_cleaner, database.checkpoint
        log_gib = cleaner.redo_capacity_gib if cleaner else (checkpoint.most_log_gib or 0.0) if checkpoint else 0.0
    held_gib = scenario.workload.file_pages * database.page_kib * KIB / GIB + log_gib
    share = held_gib / (disks.files * disks.disks_per_file * disks.disk.capacity_gib)
    return with_values(scenario, {KEY: min(round(share, 4), 1.0)}) if share > 0 else scenario


def fullness_row(scenario: ScenarioSpec) -> Origin | None:
    """A row for it; None where it is said, or has no effect."""
    disk = scenario.machine.disks.disk
    if not isinstance(disk, SsdSpec):
        return None
    others = (f"{KEY}={MOST_FILLED:g}",) if disk.filled_fraction < MOST_FILLED else ()
    return Origin("share of the drive with data", KEY, f"{disk.filled_fraction:g}", None, SOURCE, others=others)


def with_fullness(data: dict[str, Any], scenario: ScenarioSpec) -> dict[str, Any]:
    """The scenario's file with it."""
    filled = value_at(scenario, KEY)
    if filled is None:
        return data
    data = copy.deepcopy(data)
    machine = data["machine"]
    if "disks" not in machine:  # of a cloud machine, whose own are left out
        machine["disks"] = expand_names(machine, WHERE, "machine")["disks"]
        if "log_disk" not in machine:
            machine["volume_limits"] = []
    set_value(data, KEY, filled)
    return data
