"""No parameter is dead: whatever number of a scenario is changed, another model comes out."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build
from oltpsim.simulator.errors import InputError

SWAPPING = Path(__file__).resolve().parents[3] / "scenarios" / "library" / "v20z-150000-buffers.yaml"
"""A scenario in which every part of the machine has something to do."""
SHOWN_ALONE = ("measured.", "database.measured_threads")
"""What stands beside the result, a measured figure or how far runs went, which the model must not see."""
OF_JOBS = ("machine.cpu.cache_mib", "machine.cpu.memory_latency_ns", "database.path.load_row_us")
"""What only jobs feel: tests/models/jobs/test_formulas.py."""
MUST_AGREE = ("database.page_kib", "workload.layout.page_kib", "machine.disks.controllers")
SUM_TO_ONE = "workload.mix."
OF_OTHER_PARTS = {
    "machine.disks.disk.write_cache_sorted": "machine.disks.disk=sata-7200-2005",
    "machine.network.round_trip_us": "machine.network={clients_on_server: false}",
    "database.log.flush_overhead_us": "database.log.commit=durable",
    "database.log.journal_writes_per_group": "database.log.commit=durable",
    "workload.tpcc.remote_stock_fraction": "workload.warehouses=40",
    "workload.tpcc.remote_payment_fraction": "workload.warehouses=40",
    "machine.disks.sets": "machine.disks={level: raid0, count: 4}",
    "machine.log_disks": "machine.log_disk=nvme",
    "database.writer.coalesced_pages": "database.io=direct",
    "machine.disks.stripe_kib": "machine.disks={level: raid0, count: 2}",
    "sampling_fraction": "interval.start=warm",
    "machine.cpu.second_thread_gain": "machine.cpu.threads_per_core=2",
    "machine.cpu.cache_line_ns": "database.path.shared_lines=10",
    "database.path.statement_us": "workload={base: pgbench-select-only, scale: 1}",
    "database.pool.old_blocks_time_ms": "database.pool.replacement=midpoint",
}
"""What else must be set for a parameter to count."""
FAR_APART = (
    "database.path.memory_references=30",
    "machine.cpu={tlb_entries: 100, sockets: 3, remote_memory_factor: 2, cache_mib: 1}",
    "database.path.shared_lines=10",
    "workload.tpcc.rows_per_statement=2",
    "machine.cpu.relative_speed=2",
)
OF_MEMORY_REFERENCES = (
    "database.path.memory_references", "machine.cpu.sockets", "machine.cpu.remote_memory_factor",
    "machine.cpu.tlb_entries", "machine.cpu.cache_latency_ns", "operating_system.memory_page_kib",
    "machine.cpu.remote_cache_line_ns", "database.path.transaction_phases", "database.critical_section.memory_fraction",
)  # fmt: skip


def numbers(data: dict[str, Any], above: str = "") -> Iterator[tuple[str, int | float]]:
    """Dotted keys of all numbers, with their values."""
    for key, value in data.items():
        if isinstance(value, dict):
            yield from numbers(value, f"{above}{key}.")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{above}{key}", value


def near(value: int | float) -> Iterator[int | float]:
    """Other values, of which a valid scenario allows at least one."""
    if isinstance(value, int):
        yield from (other for other in (2 * value, value // 2, value + 1) if other != value)
    else:
        yield from (value * 1.25 or 0.5, value * 0.5, value * 0.9)


def changed(key: str, value: int | float) -> tuple[ScenarioSpec, ScenarioSpec]:
    """A scenario, and the same with the nearest other number at a key that it may have."""
    settings = [OF_OTHER_PARTS[key]] if key in OF_OTHER_PARTS else []
    settings += FAR_APART if key in OF_MEMORY_REFERENCES else ()
    for other in near(value):
        try:
            return load_scenario(SWAPPING, settings), load_scenario(SWAPPING, [*settings, f"{key}={other!r}"])
        except InputError:
            continue
    pytest.fail(f"{key}: no other value is valid")


@pytest.mark.slow
def test_every_number_makes_another_model() -> None:
    keys = {
        key: value
        for key, value in numbers(load_scenario(SWAPPING).model_dump(mode="json"))
        if not key.startswith((*SHOWN_ALONE, SUM_TO_ONE, *OF_JOBS, *MUST_AGREE))
    }
    assert len(keys) > 60
    dead = []
    for key, value in keys.items():
        before, after = changed(key, value)
        if build(before).digest() == build(after).digest():
            dead.append(key)
    assert dead == []
