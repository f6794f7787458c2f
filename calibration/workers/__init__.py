"""Worker processes: the one pool for refits, the fit's engine calls and simulated runs."""

from calibration.workers.pool import SPAWN, WorkerPool, worker_pool
