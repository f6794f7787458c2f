"""Executor on a Dask cluster. Only the given address is connected to; results come back here.

A lost worker loses no task: the scheduler moves its tasks to others.
"""

import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from oltpsim.calibration.records import fit_program
from oltpsim.scenarios.run.executors import FuturesExecutor, LostWorkers
from oltpsim.scenarios.run.progress import Display
from oltpsim.scenarios.run.store import check_program
from oltpsim.simulator.errors import InputError

CONNECT_S = 10.0
LOOK_AT_WORKERS_S = 5.0
MISSING = "--cluster needs Dask, which is not installed: install 'oltpsim[dask]', here and on the cluster alike"


class SameProgram(Executor):
    """Executor whose calls are refused where another program would answer them: its answers might differ."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Schedule a call. It raises InputError where the program differs."""
        return self._executor.submit(_by_program, fit_program(), fn, *args, **kwargs)


def _by_program(expected: str, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    check_program(fit_program() == expected, fit_program())
    return fn(*args, **kwargs)


class DaskExecutor(FuturesExecutor):
    """The workers that a scheduler has at the moment; they may come and go. `calls`: the same for a fit's calls."""

    def __init__(self, client: Any, executor: Executor, display: Display) -> None:
        super().__init__(executor, sum(client.nthreads().values()))
        self.calls = SameProgram(executor)
        self._client, self._display, self._looked_s = client, display, time.monotonic()

    def poll(self) -> None:
        """Follow the number of workers."""
        if time.monotonic() - self._looked_s < LOOK_AT_WORKERS_S:
            return
        self._looked_s = time.monotonic()
        slots = sum(self._client.nthreads().values())
        self.resize(max(1, slots))
        if not slots:
            self._display.step("waiting for a worker: the cluster has lost all")


@contextmanager
def dask_cluster(address: str, display: Display) -> Iterator[DaskExecutor]:
    """The cluster whose scheduler is at an address, such as `tcp://10.0.0.1:8786`; waits for a first worker.

    Raises InputError where Dask is missing, nobody answers, or the cluster is lost meanwhile.
    """
    try:
        distributed, scheduler = import_module("distributed"), import_module("distributed.scheduler")
    except ImportError as error:
        raise InputError(MISSING) from error
    display.step(f"connecting to {address}")
    with _quiet():
        try:
            client = distributed.Client(address, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise InputError(
                f"--cluster {address}: no Dask scheduler answers there ({error}); start one by 'dask scheduler' and "
                "give the address that it prints"
            ) from error
        try:
            display.step(f"waiting for a worker of {address}")
            while not client.nthreads():
                time.sleep(1.0)
            with client.get_executor() as executor:
                yield DaskExecutor(client, executor, display)
        except scheduler.KilledWorker as error:
            raise LostWorkers(
                f"--cluster {address}: some runs ended several workers, most likely because memory ran out: {error}"
            ) from error
        except (CancelledError, OSError) as error:
            raise LostWorkers(f"--cluster {address}: the scheduler is gone; start it again, or give another") from error
        except ModuleNotFoundError as error:
            raise InputError(f"--cluster {address}: its workers lack {error.name}: install the same there") from error
        finally:
            client.close()


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the tracebacks that Dask logs of what is told in a sentence here."""
    loggers = [logging.getLogger(name) for name in ("distributed", "tornado.application", "asyncio")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
