"""A partitioned in-memory store on several servers, asked by client machines without thinking."""

from typing import Literal, Self

from pydantic import Field, model_validator

from oltpsim.models.input import (
    Fraction,
    Gib,
    Kib,
    Mib,
    MibPerSecond,
    Microseconds,
    Milliseconds,
    Name,
    Number,
    Seconds,
    Spec,
    WholeNumber,
)

MOST_SERVERS = 64
MOST_GBIT_PER_S = 1e5


class CollectorSpec(Spec):
    """The young generation of a virtual machine (JVM): when it is full, all threads stand still while it is emptied."""

    young_mib: Mib = Field(gt=0, description="size of the young generation")
    garbage_kib: Kib = Field(gt=0, description="what one request leaves in it")
    pause_ms: Milliseconds = Field(ge=0, description="mean time for which all threads stand still")

    @property
    def requests_between(self) -> int:
        """Requests from one pause to the next."""
        return max(round(self.young_mib * 1024 / self.garbage_kib), 1)


class StorePathSpec(Spec):
    """CPU time of one request on the reference core, messages and all."""

    client_us: Microseconds = Field(ge=0, description="in the client's program and driver")
    server_us: Microseconds = Field(ge=0, description="at the server that has the row")


class UpdatePathSpec(StorePathSpec):
    """That of an update, which is carried out twice."""

    copy_us: Microseconds = Field(ge=0, description="at the server that has the copy")


class UpdatedRowSpec(Spec):
    """What an update costs, from what a query does: the columns that it leaves alone are neither sent nor read."""

    cost_fraction: Fraction = Field(
        ge=0,
        le=1,
        description="of a query's CPU time, at client and server alike, that "
        "goes with the columns of its row; the rest with its messages and its key",
    )
    changed_fraction: Fraction = Field(ge=0, le=1, description="columns changed, of those that a query reads")
    copying_us: Microseconds = Field(ge=0)
    """CPU time of the message to the copy's server and of its answer, at the server that has the row"""

    def path(self, query: StorePathSpec) -> UpdatePathSpec:
        """The CPU times of an update beside those of a query; the copy's server does what the row's does."""
        left = 1.0 - self.cost_fraction * (1.0 - self.changed_fraction)
        server_us = left * query.server_us
        return UpdatePathSpec(
            client_us=left * query.client_us, server_us=server_us + self.copying_us, copy_us=server_us
        )


class NodeLossSpec(Spec):
    """A server dies under load. Its copies take over, and are copied again, so that there are two of each.

    Requests at it or on their way to it get no answer. They are sent again when its loss has been noticed.
    """

    at_s: Seconds = Field(gt=0, description="when it dies, from the start of the run")
    detection_s: Seconds = Field(gt=0, description="time until the others have noticed (member timeout)")
    server_gib: Gib = Field(gt=0, le=4096, description="data that each server holds, copies included")
    restore_mib_per_s: MibPerSecond = Field(gt=0, description="most that one of the others copies")
    restore_us_per_mib: Microseconds = Field(default=400.0, ge=0)
    """CPU time of one copied MiB, at both of its servers each, on the reference core (assumption)"""
    numbered: bool = True
    """whether a request that is sent again is known by its number where it has been carried out already"""


class PartitionedStoreSpec(Spec):
    """Rows in memory on servers by the hash of their key, each with a further copy or none; closed clients.

    `machine` is one of the servers. Client machines have virtual machines with threads that ask for random keys, each
    the next one as soon as it has its answer. An update is answered when the copy has it, too.
    """

    kind: Literal["partitioned_store"] = "partitioned_store"
    name: Name = "partitioned in-memory store"
    servers: WholeNumber = Field(ge=1, le=MOST_SERVERS)
    copies: WholeNumber = Field(default=1, ge=0, le=1, description="further copies of each row, written synchronously")
    client_machines: WholeNumber | None = Field(default=None, ge=1, le=MOST_SERVERS)
    """as many as servers if absent"""
    client_cores: WholeNumber | None = Field(default=None, ge=1, le=256, description="as the server's if absent")
    client_relative_speed: Number | None = Field(default=None, ge=0.01, le=100, description="as the server's if absent")
    jvms_per_client_machine: WholeNumber = Field(default=1, ge=1, le=64)
    threads_per_jvm: WholeNumber = Field(ge=1, le=4096)
    update_fraction: Fraction = Field(default=0.0, ge=0, le=1, description="share of updates; the others read one row")
    query: StorePathSpec
    update: UpdatePathSpec | None = None
    updated_row: UpdatedRowSpec | None = Field(
        default=None, description="an update from a query's times, where update is absent"
    )
    key_kib: Kib = Field(default=0.2, ge=0, description="message that asks for a row (assumption)")
    row_kib: Kib = Field(default=0.7, ge=0, description="message with a row (assumption)")
    update_kib: Kib = Field(default=0.3, ge=0, description="message with a key and new values (assumption)")
    acknowledgement_kib: Kib = Field(default=0.1, ge=0, description="message that says done (assumption)")
    node_gbit_per_s: Number = Field(default=10.0, gt=0, le=MOST_GBIT_PER_S, description="what one machine can send")
    backplane_gbit_per_s: Number | None = Field(default=None, gt=0, le=MOST_GBIT_PER_S)
    """what all machines together can send; no limit if absent"""
    client_collector: CollectorSpec | None = Field(default=None, description="of each client JVM; no pauses if absent")
    server_collector: CollectorSpec | None = Field(default=None, description="of each server; no pauses if absent")
    warm_up_s: Seconds = Field(default=0.5, ge=0, le=3600, description="simulated time that is not counted")
    duration_s: Seconds = Field(default=4.0, gt=0, le=3600, description="simulated time that is counted")
    loss: NodeLossSpec | None = Field(default=None, description="a server that dies; none if absent")

    @model_validator(mode="after")
    def _updates_have_a_path(self) -> Self:
        if self.update is None and self.updated_row is None:
            raise ValueError("update: missing; add it, or updated_row, which gives it from a query's times")
        return self

    @property
    def update_path(self) -> UpdatePathSpec:
        """CPU times of an update: `update`, or else from those of a query."""
        if self.update is None and self.updated_row is not None:
            return self.updated_row.path(self.query)
        assert self.update is not None, "one of them is there"
        return self.update

    @property
    def clients(self) -> int:
        """Client machines."""
        return self.client_machines or self.servers

    @property
    def threads(self) -> int:
        """Client threads of all machines."""
        return self.clients * self.jvms_per_client_machine * self.threads_per_jvm
