"""The kernel: the compiled engine."""

from oltpsim.simulator.kernel.compiled import run_text
from oltpsim.simulator.kernel.engine import KernelEngine, simulate
