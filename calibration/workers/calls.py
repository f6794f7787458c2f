"""Calls on any executor of concurrent.futures: worker processes, a cluster's, or none, which is this process."""

from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Executor, Future, as_completed
from typing import Any, TypeVar

T = TypeVar("T")


def finished_calls(
    executor: Executor | None,
    work: Callable[..., T],
    calls: Mapping[str, tuple[Any, ...]],
    begins: Callable[[str], None] = lambda _: None,
) -> Generator[tuple[str, T]]:
    """Answers of `work(*arguments)` by name, each as soon as it is there; without an executor in their order.

    `begins`: called in this process before a call is made here. Calls that haven't begun are cancelled when the
    consumer stops or one of them raises; before an error or Ctrl-C leaves it, what is finished is yielded.
    """
    if executor is None:
        for name, arguments in calls.items():
            begins(name)
            yield name, work(*arguments)
        return
    pending: dict[Future[T], str] = {}
    try:
        pending.update((executor.submit(work, *arguments), name) for name, arguments in calls.items())
        for future in as_completed(list(pending)):
            yield pending.pop(future), future.result()
    except (KeyboardInterrupt, Exception):
        ready = [future for future in pending if future.done() and not future.cancelled() and not future.exception()]
        for future in ready:
            yield pending[future], future.result()
        raise
    finally:
        for future in pending:
            future.cancel()
