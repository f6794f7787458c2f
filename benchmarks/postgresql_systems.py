"""Systems at random as PostgreSQL servers are set: whole pages in the WAL, max_wal_size, write-back in chunks.

The same number always gives the same system. They are the kind `postgresql` of random_systems.py with more changes.
"""

import itertools

import numpy as np

from benchmarks.random_machines import FLASH
from benchmarks.random_systems import (
    CHECKPOINT_TRANSACTIONS,
    MOST_TRIES,
    Drawing,
    drawn,
    finished,
    random_arm,
    random_flash,
    random_volume,
)
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.errors import InputError

KIND = "postgresql server"
SYSTEMS = 160
KEY = 778
"""beside the number, so that these systems aren't drawn as others are"""
LOG_KIB = 12
"""log of a transaction, about, with whole pages"""


def postgresql_system(number: int) -> tuple[str, ScenarioSpec]:
    """Kind and scenario of system `number`. Machines that can't run their workload are drawn again."""
    for attempt in itertools.count():
        d = drawn("postgresql", np.random.default_rng([KEY, number, attempt]))
        _change(d)
        try:
            return KIND, finished(KIND, d)
        except InputError:
            if attempt + 1 >= MOST_TRIES:
                raise
    raise AssertionError


def _change(d: Drawing) -> None:
    """Settings of the server, and disks of every kind; the log often shares theirs."""
    d.database["checkpoint"] |= {
        "full_page_writes": d.one_of(True, True, False),
        "most_log_gib": d.one_of(None, round(d.between(0.2, 3) * CHECKPOINT_TRANSACTIONS * LOG_KIB / 1024**2, 4)),
    }
    d.page_cache |= {
        "background_chunk_mib": d.one_of(None, d.between(1, 32)),
        "dirty_background_fraction": d.one_of(0.02, 0.1, 0.5),
    }
    sata = {"base": "sata-ssd", "flushes_alone": True, "flush_us": d.one_of(50, 300, 2000)}
    disk = d.one_of(random_arm(d), random_flash(d), sata, random_volume(d), *FLASH)
    d.disks = {"disk": disk, "count": d.one_of(1, 1, 2)}
    if d.chance(0.6):
        d.machine.pop("log_disk", None)
