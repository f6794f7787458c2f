"""Memory that systems take in the kernel."""

import dataclasses
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from resource import getpagesize

from oltpsim.simulator.form import System
from oltpsim.simulator.kernel import KernelEngine


def kernel_bytes(*models: System) -> list[int]:
    """Memory of each model's system before its run, from a process in which nothing has been freed that it could take.

    The models start cold: what a start fills takes its memory anyway.
    """
    cold = [dataclasses.replace(each, interval=dataclasses.replace(each.interval, start="cold")) for each in models]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(_growth_bytes, cold).result()


def _growth_bytes(models: list[System]) -> list[int]:
    engines, found = [], []
    for model in models:
        before = _resident_bytes()
        engines.append(KernelEngine(model, 1))
        found.append(_resident_bytes() - before)
    return found


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * getpagesize()
