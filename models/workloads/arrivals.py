"""Arrivals of transactions: closed clients, or an open stream."""

from typing import Literal

from pydantic import Field

from oltpsim.models.input import PerSecond, Seconds, Spec, WholeNumber


class ClosedClientsSpec(Spec):
    """A fixed number of clients, each waiting for its answer and then thinking (exponential)."""

    kind: Literal["closed"] = "closed"
    clients: WholeNumber = Field(ge=1, le=1_000_000)
    think_time_s: Seconds = Field(default=0.0, ge=0)

    @property
    def connections(self) -> int:
        """One for each client."""
        return self.clients


class OpenArrivalsSpec(Spec):
    """Poisson arrivals at a given rate, served by at most `connections` at a time."""

    kind: Literal["open"] = "open"
    transactions_per_s: PerSecond = Field(ge=1e-6)
    connections: WholeNumber = Field(ge=1, le=1_000_000)
