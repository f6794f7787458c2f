"""Checkpoints: every interval all pages that are dirty are written, and then the disks have them (sync)."""

from simulator.form import System
from simulator.reference.stations import Environment, Story
from simulator.reference.writer import PageWriter


class Checkpoints:
    """The daemon; `times_ns`: begin and end of each checkpoint that is done."""

    def __init__(self, env: Environment, system: System, writer: PageWriter) -> None:
        self.env, self.system, self.writer = env, system, writer
        self.times_ns: list[tuple[int, int]] = []

    def run(self) -> Story:
        """A checkpoint that takes longer than the interval is followed by the next at once."""
        env, rules = self.env, self.system.checkpoint
        due = 0
        while True:
            due = max(due + rules.interval_ns, env.now)
            yield env.timeout(due - env.now)
            began = env.now
            pages = self.writer.pool.cache.least_recent_dirty(self.system.pool.pages)
            yield from self.writer.write(pages, rules.spread_ns)
            if not self.system.direct_io:
                yield from self.writer.write_back.sync()
            self.times_ns.append((began, env.now))
