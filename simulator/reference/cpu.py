"""The processors: servers that may slow each other down, and an account of what their time was for."""

from oltpsim.simulator.form import PPM, Cpu, System
from oltpsim.simulator.reference.stations import Environment, Servers, Story
from oltpsim.simulator.reference.waits import CpuBurst


class Quota:
    """Time that all processors together may run in each period.

    What has begun is finished: its time is taken from the next periods. `period`: number of the one that `left_ns` is
    of, which is later than the present one if that has none left.
    """

    def __init__(self, cpu: Cpu) -> None:
        self.run_ns, self.period_ns = cpu.quota_ns, cpu.quota_period_ns
        self.period, self.left_ns = 0, cpu.quota_ns

    def wait_ns(self, now_ns: int, service_ns: int) -> int:
        """How long a service waits that would begin now."""
        passed = now_ns // self.period_ns - self.period
        if passed > 0:
            self.left_ns = min(self.run_ns, self.left_ns + passed * self.run_ns)
            self.period += passed
        if self.left_ns <= 0:
            later = -self.left_ns // self.run_ns + 1
            self.left_ns += later * self.run_ns
            self.period += later
        self.left_ns -= service_ns
        return max(self.period * self.period_ns - now_ns, 0)


class Processors(Servers):
    """Hardware threads, or cores that have one each; time handed out so far by activity, ns of one processor.

    How much threads slow each other down is decided when a burst starts: the others may change until it ends, but
    bursts are short.
    """

    def __init__(self, env: Environment, system: System) -> None:
        super().__init__(env, system.processors)
        self.slice_ns = system.cpu.slice_ns
        self.quota = Quota(system.cpu) if system.cpu.quota_ns else None
        self.longer_ppm = system.sharing.ppm if system.sharing else (PPM,) * system.processors
        self.transaction_ns = self.client_program_ns = self.system_calls_ns = 0
        self.background_writer_ns = self.write_back_ns = 0

    def account(self, burst: CpuBurst) -> None:
        """A client's burst is handed out."""
        self.transaction_ns += burst.user_ns
        self.system_calls_ns += burst.system_ns
        self.client_program_ns += burst.client_ns

    def run_burst(self, burst: CpuBurst) -> Story:
        """Run a client's burst, a time slice at a time; returns the time that it wasn't served."""
        return (yield from self.run(sum(burst), slice_ns=self.slice_ns))

    def lasts_ns(self, burst_ns: int) -> int:
        """How long a burst takes that starts now, beside so many busy processors."""
        return burst_ns * self.longer_ppm[self.busy.value - 1] // PPM

    def stalled_ns(self, service_ns: int) -> int:
        """How long all processors stand still first, since they have run for as long as they may."""
        return self.quota.wait_ns(self.env.now, service_ns) if self.quota else 0
