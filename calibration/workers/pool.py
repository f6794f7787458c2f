"""Process pool whose workers are spawned, never see Ctrl-C, and end with the process that started them."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from types import TracebackType
from typing import Any

SPAWN = multiprocessing.get_context("spawn")
"""of all workers, and of the queues and events that they share with this process"""


class WorkerPool(ProcessPoolExecutor):
    """Executor of concurrent.futures. As a context manager it ends its workers, in mid-task if an exception leaves it.

    `prepare(*arguments)` is called once in each worker before its first task.
    """

    def __init__(self, workers: int, prepare: Callable[..., object] | None = None, arguments: tuple[Any, ...] = ()):
        super().__init__(workers, SPAWN, _begin, (prepare, arguments))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Schedule a call. Workers that it starts inherit that Ctrl-C is blocked: it is this process that ends them."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return super().submit(fn, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for the workers, or end them where they are if the block is left by an exception."""
        if error is None:
            self.shutdown(cancel_futures=True)
        else:
            self.end()

    def end(self) -> None:
        """End the workers where they are; of a pool that has ended nothing is left to end."""
        processes, results = list((self._processes or {}).values()), self._result_queue
        self.shutdown(wait=False, cancel_futures=True)
        if not processes:
            return
        for process in processes:
            process.terminate()
        # Nobody else may hold the pipe open: who reads the half of a result would wait for the other half for ever.
        results._writer.close()  # type: ignore[attr-defined]  # noqa: SLF001 - no public way


@contextmanager
def worker_pool(workers: int) -> Iterator[WorkerPool | None]:
    """Context of a pool; None for one worker, whose work this process does itself."""
    if workers < 2:
        yield None
        return
    with WorkerPool(workers) as pool:
        yield pool


def _begin(prepare: Callable[..., object] | None, arguments: tuple[Any, ...]) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if prepare is not None:
        prepare(*arguments)


def _end_with_parent() -> None:
    """A killed parent cannot tell its workers to stop."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
