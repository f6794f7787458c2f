"""Checkpoints: every interval all pages that are dirty are written, and then the disks have them (sync)."""

from simulator.form import Model
from simulator.reference.stations import Environment, Story
from simulator.reference.writer import PageWriter


class Checkpoints:
    """The daemon; `times_ns`: begin and end of each checkpoint that is done."""

    def __init__(self, env: Environment, model: Model, writer: PageWriter) -> None:
        self.env, self.model, self.writer = env, model, writer
        self.times_ns: list[tuple[int, int]] = []

    def run(self) -> Story:
        """A checkpoint that takes longer than the interval is followed by the next at once."""
        env, rules = self.env, self.model.checkpoint
        due = 0
        while True:
            due = max(due + rules.interval_ns, env.now)
            yield env.timeout(due - env.now)
            began = env.now
            pages = self.writer.pool.cache.least_recent_dirty(self.model.pool.pages)
            yield from self.writer.write(pages, rules.spread_ns)
            if not self.model.direct_io:
                yield from self.writer.write_back.sync()
            self.times_ns.append((began, env.now))
