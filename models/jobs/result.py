"""What a job reports."""

from dataclasses import dataclass, field

CROWDED = 0.6
"""Below this share of its capacity nothing is called the limit: threads and their own paths set the rate."""


@dataclass(frozen=True, kw_only=True)
class JobResult:
    """The figure that a job is measured by, and where the time goes.

    `parts_s` are the parts of `parts_of`, in seconds; they sum to its time. `seconds` is the time of the whole job,
    None where it has no end. `also`: other figures that people quote, by their names.
    """

    kind: str
    figure: str
    value: float
    unit: str
    cpu_cores_busy: float
    seconds: float | None = None
    limited_by: str
    parts_of: str
    parts_s: dict[str, float]
    also: dict[str, float] = field(default_factory=dict)
    basis: str = "calculated, not simulated: every seed gives the same"
    series: dict[str, list[float]] = field(default_factory=dict)
    """by name, over the time of a simulated job; its first one is the time in seconds"""


def most_crowded(shares: dict[str, float], otherwise: str) -> str:
    """The name with the largest share of its capacity in use, or `otherwise` if all have room."""
    name = max(shares, key=lambda part: shares[part])
    return name if shares[name] >= CROWDED else otherwise
