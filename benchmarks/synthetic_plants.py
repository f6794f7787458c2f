"""Mistakes that people make with their runs, planted into sound records: wrong units, mixed-up counters, unsteady runs.

Each takes a record's data and says what it would be with the mistake; None where the mistake leaves no trace, as twice
nothing is nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from oltpsim.calibration.records import RunRecord, check_record

Data = dict[str, Any]
LEAST_READS_PER_S = 1.0
LEAST_QUEUE = 1.5


def broken(record: RunRecord) -> list[str]:
    """Laws that a record breaks."""
    return [finding.law for finding in check_record(record) if finding.holds is False]


def caught(record: RunRecord, plant: Callable[[Data], Data | None]) -> bool | None:
    """Whether a mistake in a sound record is found, as a law or by the record itself; None if it leaves no trace."""
    data = plant(record.model_dump(mode="json", exclude_none=True))
    if data is None:
        return None
    try:
        return bool(broken(RunRecord.model_validate(data)))
    except ValidationError:
        return True


def _times(data: Data, path: str, factor: float) -> Data:
    here = data
    for key in path.split("."):
        here = here[key]
    here["value"] *= factor
    return data


def _orders_per_s(data: Data) -> Data:
    return _times(data, "outcome.new_orders_per_minute", 1 / 60)


def _all_transactions(data: Data) -> Data:
    orders, every = data["outcome"]["new_orders_per_minute"], data["outcome"]["transactions_per_s"]
    orders["value"] = every["value"] * 60.0
    return data


def _microseconds(data: Data) -> Data:
    return _times(data, "outcome.mean_ms", 1000.0)


def _seconds(data: Data) -> Data:
    return _times(data, "outcome.mean_ms", 1 / 1000)


def _hits_for_reads(data: Data) -> Data:
    resources = data["resources"]
    resources["buffer_hits_per_s"], resources["buffer_reads_per_s"] = (
        resources["buffer_reads_per_s"], resources["buffer_hits_per_s"],
    )  # fmt: skip
    return data


def _reading(data: Data) -> bool:
    return bool(data["resources"]["devices"]["data"]["reads_per_s"]["value"] > LEAST_READS_PER_S)


def _rows_for_reads(data: Data) -> Data | None:
    return _times(data, "resources.devices.data.reads_per_s", 24.0) if _reading(data) else None


def _kib_for_requests(data: Data) -> Data | None:
    device = data["resources"]["devices"]["data"]
    device["reads_per_s"]["value"] = device["read_kib_per_s"]["value"]
    return data if _reading(data) else None


def _mb_for_kb(data: Data) -> Data | None:
    return _times(data, "resources.devices.data.read_kib_per_s", 1 / 1024) if _reading(data) else None


def _bytes_for_kb(data: Data) -> Data | None:
    return _times(data, "resources.devices.data.read_kib_per_s", 1024.0) if _reading(data) else None


def _await_in_us(data: Data) -> Data | None:
    device = data["resources"]["devices"]["data"]
    for name in ("read_await_ms", "write_await_ms"):
        device[name]["value"] *= 1000.0
    return data if device["queue_length"]["value"] > LEAST_QUEUE else None


def _since_the_start(data: Data) -> Data:
    """The database's counters as they stand, instead of what was added in the window."""
    for name in ("buffer_hits_per_s", "buffer_reads_per_s", "commits_per_s", "log_flushes_per_s"):
        if name in data["resources"]:
            data["resources"][name]["value"] *= 10.0
    return data


def _getting_warm(data: Data) -> Data:
    series = data["outcome"]["series"]["new_orders_per_minute"]
    last = len(series["values"]) - 1
    series["values"] = [value * (0.6 + 0.8 * at / last) for at, value in enumerate(series["values"])]
    return data


PLANTS: dict[str, Callable[[Data], Data | None]] = {
    "new orders per s for new orders per min": _orders_per_s,
    "all transactions for new orders": _all_transactions,
    "response in microseconds for ms": _microseconds,
    "response in s for ms": _seconds,
    "pool hits and reads mixed up": _hits_for_reads,
    "rows for the device's reads": _rows_for_reads,
    "KiB for the device's reads": _kib_for_requests,
    "MB/s for kB/s": _mb_for_kb,
    "bytes/s for kB/s": _bytes_for_kb,
    "await in microseconds for ms": _await_in_us,
    "counters since the server's start": _since_the_start,
    "getting warm in a window called steady": _getting_warm,
}
