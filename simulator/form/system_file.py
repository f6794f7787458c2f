"""A system as one file: named arrays, and a JSON head with everything else."""

import io
import json
import zipfile
from typing import Any, BinaryIO

import numpy as np

from simulator.errors import InputError
from simulator.form import system as parts
from simulator.form.checking import faults
from simulator.form.daemon import Daemon, DaemonStep
from simulator.form.devices import DEVICES, Storage
from simulator.form.limits import Controllers, RateLimit
from simulator.form.placement import Extent
from simulator.form.plain import plain_of, record_of
from simulator.form.program import Program
from simulator.form.system import System

FORMAT = "oltpsim-system-1"
RECORDS: dict[str, type[Any]] = {
    record.__name__: record
    for record in (
        *DEVICES, Controllers, Daemon, DaemonStep, Extent, Program, RateLimit, Storage, System,
        parts.Costs, parts.Cpu, parts.FairQueueing, parts.Interrupts, parts.Interval, parts.Log,
        parts.PageCache, parts.Pool, parts.Section, parts.Sharing, parts.Station, parts.Terminals, parts.Work,
        parts.Writing,
    )
}  # fmt: skip
"""Every record that a system is made of, by the name that a file has for it."""


def save(system: System, file: BinaryIO) -> None:
    """Write a system as one NPZ file, compressed."""
    head, arrays = plain_of(system)
    text = json.dumps({"format": FORMAT, "system": head}, sort_keys=True)
    np.savez_compressed(file, head=np.frombuffer(text.encode(), dtype=np.uint8), **dict[str, Any](arrays))


def load(file: BinaryIO, where: str = "system") -> System:
    """Read what `save` wrote. Raises InputError for anything else, and where a number points to nothing.

    Never unpickles.
    """
    try:
        with np.load(io.BytesIO(file.read()), allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        head = json.loads(bytes(arrays.pop("head")))
        if not isinstance(head, dict) or head.get("format") != FORMAT:
            raise InputError(f"{where}: another format than {FORMAT}")
        system = record_of(head["system"], arrays, RECORDS)
        if not isinstance(system, System):
            raise InputError(f"{where}: holds no system")
        found = next(faults(system), None)
    except (ValueError, OSError, EOFError, KeyError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        raise InputError(f"{where}: not a system file of this version of oltpsim: {error}") from error
    if found:
        raise InputError(f"{where}: {found}")
    return system
