"""The kernel: the compiled engine."""

from simulator.kernel.engine import KernelEngine, simulate
