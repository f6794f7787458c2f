"""What a program is expected to do: visits, page references, times, and the state that a run starts from."""

from oltpsim.simulator.expectation.popularity import SHARE_STEPS
from oltpsim.simulator.expectation.start import start_state
from oltpsim.simulator.expectation.times import ProgramKey, SpentTimes, processor_ns_at_start, spent_times
from oltpsim.simulator.expectation.values import Frontier, Numbers, Value, shares_of
from oltpsim.simulator.expectation.visits import ProgramReader, Touches
