"""Transaction log and its group commit."""

from dataclasses import replace
from typing import Literal, Self

from pydantic import Field, model_validator

from oltpsim.models.input import Microseconds, Number, Spec, WholeNumber
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import CODES, NS_PER_US, Log, Program


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
    journal_writes_per_group: WholeNumber = Field(
        default=0,
        ge=0,
        le=4,
        description="blocks of 4 KiB that the file system's journal writes and syncs, one after the other, behind a "
        "group's last write, since that one's file grows: 2 of ext4 for a binary log (descriptor with inode, commit)",
    )
    flushed_at_once: bool = Field(
        default=False,
        description="whether each change is flushed as soon as it is logged, for whomever (InnoDB's log_flusher with "
        "innodb_flush_log_at_trx_commit 1), and a binary log's sync is a stage of its own behind it",
    )

    @model_validator(mode="after")
    def _waits_for_flushes(self) -> Self:
        if self.commit != "durable" and (self.flushed_at_once or self.journal_writes_per_group):
            key = "flushed_at_once" if self.flushed_at_once else "journal_writes_per_group"
            raise ValueError(
                f"{key}: got {getattr(self, key)}; only with commit: durable, nobody waits for it otherwise"
            )
        if self.flushed_at_once and self.journal_writes_per_group and self.syncs_per_group < 2:
            raise ValueError(
                f"journal_writes_per_group: got {self.journal_writes_per_group}; with flushed_at_once they are of a "
                "second file, the binary log: syncs_per_group must be 2"
            )
        return self


def log_of(log: LogSpec, full_page_bytes: int) -> Log:
    """Whether commits wait for the log, and what a flush is made of. `full_page_bytes`: 0 where none are logged.

    Raises InputError if whole pages are to be logged by a log that is flushed at once.
    """
    if log.flushed_at_once and full_page_bytes:
        raise InputError(
            "database.log: flushed_at_once: no engine that logs whole pages (checkpoint.full_page_writes) does it"
        )
    overhead_ns = round(log.flush_overhead_us * NS_PER_US)
    return Log(
        log.commit == "durable",
        overhead_ns,
        log.syncs_per_group,
        full_page_bytes,
        log.journal_writes_per_group,
        log.flushed_at_once,
    )


def logged_program(program: Program, log: LogSpec) -> Program:
    """The program with what its transactions log by `relative_size`."""
    if log.relative_size == 1.0:
        return program
    operations = program.operations.copy()
    of_log = operations[:, 0] == CODES["log"]
    operations[of_log, 1] = (operations[of_log, 1] * log.relative_size).round()
    return replace(program, operations=operations)
