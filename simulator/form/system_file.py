"""A system as one file: named arrays, and a JSON head with everything else."""

import io
import json
from typing import Any, BinaryIO

import numpy as np

from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import system as parts
from oltpsim.simulator.form.checking import faults
from oltpsim.simulator.form.daemon import Daemon, DaemonStep
from oltpsim.simulator.form.devices import DEVICES, Storage
from oltpsim.simulator.form.flushing import Flushing
from oltpsim.simulator.form.limits import Controllers, RateLimit
from oltpsim.simulator.form.placement import Extent
from oltpsim.simulator.form.plain import plain_of, record_of
from oltpsim.simulator.form.program import Program
from oltpsim.simulator.form.system import System

FORMAT = "oltpsim-system-1"
RECORDS: dict[str, type[Any]] = {
    record.__name__: record
    for record in (
        *DEVICES, Controllers, Daemon, DaemonStep, Extent, Flushing, Program, RateLimit, Storage, System,
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
        system = _read(file)
        fault = next(faults(system), None)
    except Exception as error:
        why = "it is no file of arrays" if str(error).startswith("This file contains") else str(error)
        why = f"{why} is missing" if isinstance(error, KeyError) else why
        remedy = "write it by 'oltpsim system SCENARIO --save FILE.npz'"
        raise InputError(f"{where}: not a system file of this version of oltpsim: {why}; {remedy}") from error
    if fault:
        raise InputError(f"{where}: {fault}")
    return system


def _read(file: BinaryIO) -> System:
    with np.load(io.BytesIO(file.read()), allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    head = json.loads(bytes(arrays.pop("head")))
    if not isinstance(head, dict):
        raise TypeError(f"its head is a {type(head).__name__}, and no object")
    if head["format"] != FORMAT:
        raise ValueError(f"its format is {head['format']}, and not {FORMAT}")
    system = record_of(head["system"], arrays, RECORDS)
    if not isinstance(system, System):
        raise TypeError(f"it holds a {type(system).__name__}, and no system")
    return system
