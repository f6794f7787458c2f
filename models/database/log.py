"""Transaction log and its group commit."""

from dataclasses import replace
from typing import Literal

from pydantic import Field

from models.input import Microseconds, Number, Spec, WholeNumber
from simulator.form import CODES, NS_PER_US, Log, Program


class LogSpec(Spec):
    """Transaction log. `durable`: a commit waits for a group flush; `buffered`: the OS writes it later."""

    commit: Literal["durable", "buffered"]
    flush_overhead_us: Microseconds = Field(default=0.0, ge=0)
    syncs_per_group: WholeNumber = Field(default=1, ge=1, le=4)
    """one after the other, each as large: 2 with a binary log that is synced at every commit"""
    in_page_cache: bool = False
    """whether its files take up memory of the page cache, as files that are written without O_DIRECT do"""
    relative_size: Number = Field(default=1.0, gt=0, le=100)
    """of what is logged, to the rows' after-images: more where undo records and each page's change are logged too"""


def log_of(log: LogSpec, full_page_bytes: int) -> Log:
    """Whether commits wait for the log, and the overhead of a flush. `full_page_bytes`: 0 where none are logged."""
    overhead_ns = round(log.flush_overhead_us * NS_PER_US)
    return Log(log.commit == "durable", overhead_ns, log.syncs_per_group, full_page_bytes)


def logged_program(program: Program, log: LogSpec) -> Program:
    """The program with what its transactions log by `relative_size`."""
    if log.relative_size == 1.0:
        return program
    operations = program.operations.copy()
    of_log = operations[:, 0] == CODES["log"]
    operations[of_log, 1] = (operations[of_log, 1] * log.relative_size).round()
    return replace(program, operations=operations)
