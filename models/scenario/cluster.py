"""Several servers of one kind, a standby, a read replica, and what happens when a server is lost."""

from pydantic import Field

from oltpsim.models.input import Microseconds, Milliseconds, Seconds, Spec, WholeNumber


class StandbySpec(Spec):
    """A server of its own that has every commit's log on its disk before the commit is done (synchronous)."""

    round_trip_us: Microseconds = Field(ge=0, description="between the server and its standby")
    flush_us: Microseconds = Field(default=500.0, ge=0, description="until the standby's log is on disk (assumption)")


class ReadReplicaSpec(Spec):
    """Servers of their own that read-only transactions (order status, stock level) run on."""

    response_ms: Milliseconds = Field(gt=0, description="response time of these transactions there (assumption)")


class FailoverSpec(Spec):
    """The server is lost, and its standby takes over."""

    at_s: Seconds = Field(gt=0, description="when, from the start of the run")
    detection_s: Seconds = Field(ge=0, description="until its loss is noticed")
    promotion_s: Seconds = Field(ge=0, description="until the standby serves")


class ClusterSpec(Spec):
    """`servers` equal machines, each with the scenario's machine, warehouses and clients.

    One of them is simulated and stands for all: what it asks of others is what others ask of it.
    """

    servers: WholeNumber = Field(default=1, ge=1, le=10_000)
    round_trip_us: Microseconds = Field(default=100.0, ge=0, description="between two servers (assumption)")
    message_us: Microseconds = Field(default=20.0, ge=0)
    """CPU time to send and take in a message and its answer, on each side, on the reference core (assumption)"""
    standby: StandbySpec | None = Field(default=None, description="of each server; none if absent")
    read_replica: ReadReplicaSpec | None = Field(default=None, description="of each server; none if absent")
    failover: FailoverSpec | None = Field(default=None, description="the loss of a server with a standby")
