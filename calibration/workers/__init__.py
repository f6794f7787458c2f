"""Workers: the one pool of processes for refits, the fit's engine calls and simulated runs; calls on any executor."""

from oltpsim.calibration.workers.calls import finished_calls
from oltpsim.calibration.workers.pool import SPAWN, WorkerPool, worker_pool
