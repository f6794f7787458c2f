"""What a program is expected to do: visits, page references, times, and the state that a run starts from."""

from oltpsim.simulator.expectation.references import (
    APPEND,
    POPULAR,
    RECENT,
    AlikeGroups,
    PageUses,
    Use,
)
from oltpsim.simulator.expectation.start import start_state
from oltpsim.simulator.expectation.times import ProgramKey, SpentTimes, executions, processor_ns_at_start, spent_times
from oltpsim.simulator.expectation.values import Frontier, effective, shares_of
from oltpsim.simulator.expectation.visits import ProgramReader
