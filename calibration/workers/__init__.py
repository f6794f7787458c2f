"""Worker processes: the one pool for refits, the fit's engine calls and simulated runs."""

from calibration.workers.pool import WorkerPool, worker_pool

__all__ = ["WorkerPool", "worker_pool"]
