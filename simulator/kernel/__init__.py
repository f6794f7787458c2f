"""The kernel: the compiled engine."""

from oltpsim.simulator.kernel.compiled import packed
from oltpsim.simulator.kernel.engine import KernelEngine, simulate
