"""SSDs by their data sheets: parts that follow from figures, sheets that contradict themselves, NVMe against SATA."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from oltpsim.models.machine import SsdSpec
from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.simulator.analytic import simulate as calculate
from oltpsim.simulator.form import MIB, SsdDevice
from oltpsim.simulator.kernel import simulate

TINY = Path(__file__).parents[2] / "scenarios" / "tiny.yaml"
SHEET: dict[str, Any] = {
    "name": "drive", "capacity_gib": 900, "read_latency_us": 80, "write_latency_us": 20, "reads_per_s": 600_000,
    "writes_per_s": 80_000, "read_mib_per_s": 3000, "write_mib_per_s": 2000, "source": "a test",
}  # fmt: skip


def device(**keys: Any) -> SsdDevice:
    made = SsdSpec.model_validate(SHEET | keys).device("disk 1")
    assert isinstance(made, SsdDevice)
    return made


def test_the_parts_add_up_to_the_sheet() -> None:
    drive = device()
    read = drive.command_read_ns + 4096 * drive.read_mib_ns // MIB + drive.read_ns + drive.die_ns
    write = drive.command_write_ns + 4096 * drive.write_mib_ns // MIB + drive.write_ns
    assert (read / 1e3, write / 1e3) == (pytest.approx(80, rel=1e-3), pytest.approx(20, rel=1e-3))
    assert 1e9 / (drive.command_read_ns + 4096 * drive.read_mib_ns / MIB) == pytest.approx(600_000, rel=1e-3)
    assert MIB / drive.drain_mib_ns / 4096 * 1e9 == pytest.approx(80_000, rel=1e-3)
    assert drive.dies / drive.die_ns * 1e9 >= 1.2 * 600_000
    assert (drive.flush_ns, drive.is_volatile, drive.buffer_bytes) == (0, 0, 8 * MIB)
    consumer = device(power_loss_protection=False, writes_per_s=400_000, sustained_writes_per_s=10_000)
    assert (consumer.flush_ns, consumer.is_volatile, consumer.buffer_bytes) == (2_000_000, 1, MIB)
    assert MIB / consumer.drain_mib_ns / 4096 * 1e9 == pytest.approx(10_000, rel=1e-3)
    assert 1e9 / (consumer.command_write_ns + 4096 * consumer.write_mib_ns / MIB) == pytest.approx(400_000, rel=2e-2)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"reads_per_s": 10_000}, "reads_per_s: got 10000, at full depth; must be more than one by one"),
        ({"write_latency_us": 1}, "write_latency_us: got 1; must be more than the interface takes for a write"),
        ({"sustained_writes_per_s": 90_000}, "sustained_writes_per_s: got 90000; at most writes_per_s, 80000"),
    ],
)
def test_sheets_that_contradict_themselves_are_refused(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        SsdSpec.model_validate(SHEET | keys)


def drained_per_s(**keys: Any) -> float:
    """Scattered writes of 4 KiB that a drive sustains."""
    return MIB / device(**keys).drain_mib_ns / 4096 * 1e9


def test_a_drive_that_is_not_full_cleans_less() -> None:
    """Amplification of the full one: 2000 MiB/s over 80,000 writes of 4 KiB, so 1 / 5.4 of its data set aside."""
    amplification = 2000.0 / (80_000 / 256)
    physical = 1.0 + 1.0 / (2.0 * amplification - 1.0)
    spare = physical / 0.8 - 1.0
    expected = 2000.0 * 256 / ((1.0 + spare) / (2.0 * spare))
    assert drained_per_s(filled_fraction=0.8) == pytest.approx(expected, rel=1e-3)
    assert drained_per_s(filled_fraction=0.9999) == pytest.approx(80_000, rel=0.002)
    assert drained_per_s(filled_fraction=0.1) == pytest.approx(2000 * 256, rel=1e-3)
    assert drained_per_s() == drained_per_s(filled_fraction=1) == pytest.approx(80_000, rel=1e-3)


def test_a_drive_that_appends_no_faster_than_it_scatters_knows_no_fill() -> None:
    sheet = {"writes_per_s": 400_000, "write_mib_per_s": 1600, "write_latency_us": 30, "read_mib_per_s": 3000}
    assert drained_per_s(**sheet, filled_fraction=0.1) > drained_per_s(**sheet)
    sheet["write_mib_per_s"] = 1562.5
    assert drained_per_s(**sheet, filled_fraction=0.1) == drained_per_s(**sheet)


def test_an_empty_drive_is_refused() -> None:
    with pytest.raises(ValidationError, match="filled_fraction"):
        device(filled_fraction=0)


def rate(disk: str, clients: int, engine: Any) -> float:
    words = (
        f"machine.disks.disk={disk}", "database.log.commit=durable", "machine.cpu.cores=32",
        f"workload.arrivals.clients={clients}", "interval.duration_s=4",
    )  # fmt: skip
    return float(engine(build(load_scenario(TINY, words)), 1).rate_per_min.mean)


@pytest.mark.parametrize("clients", [1, 4, 16, 64])
def test_nvme_is_quicker_than_sata_with_durable_commits(clients: int) -> None:
    """An S4610 takes 612 us for a synced write, a P4510 18: by diskbench NVMe syncs 2.7 times as often at one job.

    Transactions have processors and reads too, and share flushes: the fewer clients, the more a flush matters.
    """
    for engine in (simulate, calculate):
        nvme, sata = (rate(disk, clients, engine) for disk in ("intel-dc-p4510-2000", "intel-d3-s4610-480"))
        assert nvme > (1.0 if clients == 64 else 1.1) * sata


def test_flushes_without_protection_come_one_at_a_time() -> None:
    """An 840 Pro takes 2.26 ms for a flush, and with page writes in its buffer many times that."""
    protected, volatile = (rate(disk, 4, simulate) for disk in ("intel-dc-s3700-400", "samsung-840-pro-256"))
    assert protected > 1.3 * volatile
