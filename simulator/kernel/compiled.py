"""One system in the compiled library: a record in, time passes, records out."""

import ctypes
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

from oltpsim.simulator.compiled_library import ERROR_BYTES
from oltpsim.simulator.errors import SMALLER_SYSTEM, InputError, InternalError
from oltpsim.simulator.form import GIB, KIB, SeededRun, StartState
from oltpsim.simulator.kernel.figures import KernelFigures, State, Values
from oltpsim.simulator.kernel.library import kernel_library, layout_of
from oltpsim.simulator.kernel.words import Packed, Record, unpacked

INTERNAL = "internal: "
"""begins the message of an error that no input explains"""


def available_bytes() -> int | None:
    """Memory that a process may take without swapping, by Linux and by its control group; None if nothing says so."""
    limits = [*_free_on_machine(), *_free_in_group()]
    return min(limits, default=None)


def _free_on_machine() -> list[int]:
    lines = _text(Path("/proc/meminfo")).splitlines()
    return [int(line.split()[1]) * KIB for line in lines if line.startswith("MemAvailable:")]


def _free_in_group() -> list[int]:
    """Of control groups of version 2, as containers have them."""
    limit, used = (_text(Path("/sys/fs/cgroup") / f"memory.{name}").strip() for name in ("max", "current"))
    return [int(limit) - int(used)] if limit.isdigit() and used.isdigit() else []


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


class CompiledSystem:
    """System that the compiled engine runs. Raises InputError where it is too large, for memory or for its numbers.

    Threads may use one system in turn, and different ones at the same time.
    """

    def __init__(self, run: SeededRun, start: StartState) -> None:
        self._library = kernel_library()
        self._layout = layout_of(self._library)
        self._lock = Lock()
        self._run = Packed(self._layout, run)
        _refuse_what_does_not_fit(self._run, 0)
        state = Packed(self._layout, start)
        passed = (self._run.address, self._run.words, state.address, state.words)
        self._handle = _call(self._library.oltpsim_create, *passed)

    def run(self, until_ns: int) -> int:
        """Let time pass until an instant, or until the last client has done its work, which is returned, ns.

        Other threads go on meanwhile.
        """
        now_ns = ctypes.c_int64()
        with self._lock:
            _call(self._library.oltpsim_run, self._handle, until_ns, ctypes.byref(now_ns))
        return now_ns.value

    def figures(self) -> KernelFigures:
        """Counters and levels now."""
        return self._read(KernelFigures, self._library.oltpsim_figures)

    def values(self) -> Values:
        """Values of the program now."""
        return self._read(Values, self._library.oltpsim_values)

    def state(self) -> State:
        """All else that it holds now."""
        return self._read(State, self._library.oltpsim_state)

    def _read(self, record: type[Record], read: Callable[..., Any]) -> Record:
        with self._lock:
            return unpacked(self._layout, record, _call(read, self._handle))

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._library.oltpsim_free(self._handle)


def refuse_what_does_not_fit(run: SeededRun, more_bytes: int) -> None:
    """Raises InputError if a run, and so much beside it, takes more memory than is free."""
    _refuse_what_does_not_fit(packed(run), more_bytes)


def packed(record: SeededRun | StartState) -> Packed:
    """A record as the kernel takes it, for other programs that have parts of it compiled in."""
    return Packed(layout_of(kernel_library()), record)


def _refuse_what_does_not_fit(run: Packed, more_bytes: int) -> None:
    needed_bytes = _call(kernel_library().oltpsim_bytes_needed, run.address, run.words) + more_bytes
    free_bytes = available_bytes()
    if free_bytes is not None and needed_bytes > free_bytes:
        needed, free = (f"{size / GIB:,.3g} GiB" for size in (needed_bytes, free_bytes))
        raise InputError(
            f"simulating this takes at least {needed} of memory and {free} are free: "
            f"{SMALLER_SYSTEM}, or on another machine"
        )


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    error = ctypes.create_string_buffer(ERROR_BYTES)
    result = function(*arguments, error, ERROR_BYTES)
    if result:
        return result
    message = error.value.decode()
    if message.startswith(INTERNAL):
        raise InternalError(message.removeprefix(INTERNAL))
    raise InputError(message)
