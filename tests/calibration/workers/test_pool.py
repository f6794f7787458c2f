"""Workers: Ctrl-C is their parent's affair, and nobody waits for those that are ended in mid-task."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from oltpsim.calibration.workers import WorkerPool, worker_pool

ENDED_IN_MID_RESULT = """
import sys
from oltpsim.calibration.workers import WorkerPool
try:
    with WorkerPool(2) as pool:
        answers = [pool.submit(bytes, 100_000_000) for _ in range(20)]
        answers[0].result()
        raise KeyboardInterrupt
except KeyboardInterrupt:
    print("left")
"""


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_one_worker_is_no_pool() -> None:
    with worker_pool(1) as pool:
        assert pool is None


def test_each_worker_is_prepared_once_and_ignores_ctrl_c(tmp_path: Path) -> None:
    with WorkerPool(1, os.chdir, (tmp_path,)) as pool:
        assert signal.SIGINT in pool.submit(signal.pthread_sigmask, signal.SIG_BLOCK, ()).result()
        assert pool.submit(os.getcwd).result() == str(tmp_path.resolve())


def test_a_pool_that_an_exception_leaves_ends_its_workers_in_mid_task() -> None:
    workers: list[int] = []

    def leave() -> None:
        with WorkerPool(1) as pool:
            workers.append(pool.submit(os.getpid).result())
            pool.submit(time.sleep, 3600.0)
            raise RuntimeError("left")

    with pytest.raises(RuntimeError, match="left"):
        leave()
    while is_alive(workers[0]):  # the pool's own thread waits for the process
        time.sleep(0.01)


def test_a_program_ends_although_its_workers_were_ended_in_mid_result() -> None:
    """The half of a result is in the pipe: whoever reads it must not wait for the other half."""
    answer = subprocess.run(
        [sys.executable, "-c", ENDED_IN_MID_RESULT], capture_output=True, text=True, timeout=120, check=True
    )
    assert answer.stdout == "left\n"
