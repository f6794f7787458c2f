"""The kernel: the compiled engine."""

from simulator.kernel.compiled import MACHINE_CODE_FOLDER, MACHINE_CODE_NOT_KEPT, is_compiled_already
from simulator.kernel.engine import KernelEngine, simulate
from simulator.kernel.state import State, counter_values, register_values
