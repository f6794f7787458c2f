"""Transaction log and its group commit."""

from typing import Literal

from pydantic import Field

from models.input import Microseconds, Spec
from simulator.form import NS_PER_US, Log


class LogSpec(Spec):
    """Transaction log. `durable`: a commit waits for a group flush; `buffered`: the OS writes it later."""

    commit: Literal["durable", "buffered"]
    flush_overhead_us: Microseconds = Field(default=0.0, ge=0)


def log_of(log: LogSpec) -> Log:
    """Whether commits wait for the log, and the overhead of a flush."""
    return Log(durable=log.commit == "durable", flush_overhead_ns=round(log.flush_overhead_us * NS_PER_US))
