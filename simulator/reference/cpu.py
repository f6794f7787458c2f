"""The processors: servers that may slow each other down, and an account of what their time was for."""

from simulator.form import System
from simulator.reference.stations import Environment, Servers
from simulator.reference.waits import CpuBurst

PPM = 1_000_000


class Processors(Servers):
    """Hardware threads, or cores that have one each; time handed out so far by activity, ns of one processor.

    How much threads slow each other down is decided when a burst starts: the others may change until it ends, but
    bursts are short.
    """

    def __init__(self, env: Environment, system: System) -> None:
        super().__init__(env, system.processors)
        self.longer_ppm = system.sharing.ppm if system.sharing else (PPM,) * system.processors
        self.transaction_ns = self.client_program_ns = self.system_calls_ns = 0
        self.background_writer_ns = self.write_back_ns = 0

    def account(self, burst: CpuBurst) -> None:
        """A client's burst is handed out."""
        self.transaction_ns += burst.user_ns
        self.system_calls_ns += burst.system_ns
        self.client_program_ns += burst.client_ns

    def lasts_ns(self, burst_ns: int) -> int:
        """How long a burst takes that starts now, beside so many busy processors."""
        return burst_ns * self.longer_ppm[self.busy.value - 1] // PPM
