"""Write the table and the picture of docs/cpu-scaling.md: throughput by clients, measured and by the processors' model.

Of each set of docs/cpu_scaling.yaml two points are fitted, by the rule there; all others are predicted by the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from pydantic import Field

from benchmarks.network import system_without_data
from docs.build import replaced
from oltpsim.models.input import (
    Fraction,
    Microseconds,
    Number,
    Spec,
    Text,
    WholeNumber,
    as_mapping,
    parse_yaml,
    validated,
    write_whole,
)
from oltpsim.models.machine import CpuSpec, Sessions, cache_line_ns, slowdowns
from oltpsim.scenarios.show.chart import Chart, Curve, Scale
from oltpsim.scenarios.show.palette import SERIES_COLOURS
from oltpsim.scenarios.show.picture import picture_digest, picture_svg
from oltpsim.simulator import analytic, kernel
from oltpsim.simulator.form import NS_PER_S, Assembler, Cpu, Interval, Sharing, System, from_s

DOCS = Path(__file__).resolve().parent
MEASURED, PAGE, PICTURE = DOCS / "cpu_scaling.yaml", DOCS / "cpu-scaling.md", DOCS / "pictures" / "cpu-scaling.svg"
BEGIN, END = "<!-- begin of {}: python docs/build_cpu_scaling.py -->\n", "<!-- end of {} -->\n"
TITLE = "Transactions a second by clients: measured, and modelled from two points"
SECOND_THREAD_GAIN = 0.3
"""cached reads on one core of an E5-2690, on one thread and on both: 460 and 600 thousand/s (bdrouvot, 2015)"""
SEED, TRANSACTIONS, STEPS, FIT_TOLERANCE = 1, 20_000, 40, 1e-7
MOST_LINE_SHARE = 1.0
STATEMENTS, US_PER_S = 16, 1e6
"""statements of a transaction of sysbench's read-only test, each with a message and its answer"""
REFILL_FRACTION, SESSION_FRACTION, CROWDING_SESSIONS = 0.135, 0.0005, 200.0
"""costs of turns on InnoDB, as described machines have them (docs/decisions/0060-sessions-that-take-turns.md)"""


class MeasuredSet(Spec):
    """Throughput of one machine with one server and one driver, by number of clients."""

    what: Text
    machine: Text
    cores: WholeNumber
    threads_per_core: WholeNumber
    sockets: WholeNumber
    all_core_clock_fraction: Fraction
    wake_us: Microseconds
    """wake-ups of a statement's message and answer, as the catalogue's lines have them"""
    clients: tuple[WholeNumber, ...] = Field(min_length=3)
    per_s: tuple[Number, ...] = Field(min_length=3)
    """transactions, by number of clients"""
    source: Text

    @property
    def points(self) -> dict[int, float]:
        """Transactions/s by clients."""
        return dict(zip(self.clients, self.per_s, strict=True))

    @property
    def cpu(self) -> CpuSpec:
        """The processors, on which each thread of client and server mostly stays."""
        return CpuSpec(
            model=self.machine[:150],
            cores=self.cores,
            relative_speed=1.0,
            threads_per_core=self.threads_per_core,
            second_thread_gain=SECOND_THREAD_GAIN,
            thread_placement="kept",
            wake_us=self.wake_us,
            all_core_clock_fraction=self.all_core_clock_fraction,
            sockets=self.sockets,
            source=self.source,
        )

    @property
    def fitted(self) -> tuple[int, int]:
        """The lone client, and the lowest number of clients that is at least the number of hardware threads."""
        return min(self.points), min(clients for clients in self.points if clients >= self.cpu.threads)


@dataclass(frozen=True)
class ScalingFit:
    """What two points say of a set, and what follows for all of them."""

    demand_s: float
    line_share: float
    kernel_per_s: dict[int, float]
    analytic_per_s: dict[int, float]

    def lines(self, cpu: CpuSpec) -> float:
        """Cache lines that a transaction fetches where another thread had each of them."""
        return self.line_share * self.demand_s * NS_PER_S / cache_line_ns(cpu)


@cache
def measured_sets() -> dict[str, MeasuredSet]:
    """All sets, by name."""
    where = str(MEASURED.name)
    keys = as_mapping(parse_yaml(MEASURED.read_text(encoding="utf-8"), where), where)
    return validated(dict[str, MeasuredSet], keys, where)


def longer_at(measured: MeasuredSet, clients: int, line_share: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """How much longer work takes with 1, 2, ... threads busy, by cache lines, clock, siblings and turns of clients."""
    waking = STATEMENTS * measured.wake_us / US_PER_S * measured.points[measured.fitted[0]]
    growth = 1.0 + SESSION_FRACTION * (clients - 1.0) / (1.0 + (clients - 1.0) / CROWDING_SESSIONS)
    sessions = Sessions(clients, 2, waking, REFILL_FRACTION, growth)
    return slowdowns(measured.cpu, line_share=line_share, sessions=sessions)  # pyright: ignore[reportArgumentType]


def fitted_line_share(measured: MeasuredSet) -> float:
    """The share at which a full machine does what was measured; 0 if it does less without any (bisection)."""
    alone, full = measured.fitted
    wanted = measured.points[full] / measured.points[alone]
    threads = measured.cpu.threads

    def done(line_share: float) -> float:
        return float(threads / longer_at(measured, full, line_share)[-1])

    low, high = 0.0, MOST_LINE_SHARE
    if done(low) <= wanted:
        return 0.0
    while high - low > FIT_TOLERANCE:
        middle = (low + high) / 2.0
        low, high = (middle, high) if done(middle) > wanted else (low, middle)
    return (low + high) / 2.0


def system_of(measured: MeasuredSet, clients: int, demand_s: float, line_share: float) -> System:
    """Clients without think time whose transactions only compute, for exponential times."""
    asm, times = Assembler(), "times"
    asm.register("zero")
    asm.emit("think", asm.distribution("constant", 0), asm.stream(times))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream(times))
    asm.begin_class("transaction")
    asm.emit("work", asm.distribution("exponential", from_s(demand_s)), asm.stream(times))
    asm.emit("end")
    ppm = tuple(round(1e6 * factor) for factor in longer_at(measured, clients, line_share))
    length_s = TRANSACTIONS * demand_s / min(clients, measured.cpu.cores)
    interval = Interval("cold", from_s(20 * demand_s), from_s(length_s))
    program = asm.finish("transaction")
    return replace(
        system_without_data("computing clients", program, clients, interval, Cpu(measured.cores)),
        sharing=Sharing(ppm),
        step_ns=from_s(length_s / STEPS),
    )


def fit(measured: MeasuredSet, every: tuple[int, ...]) -> ScalingFit:
    """Demand and lines from the two fitted points, and the rates with so many clients in both engines."""
    demand_s, line_share = 1.0 / measured.points[measured.fitted[0]], fitted_line_share(measured)
    systems = {clients: system_of(measured, clients, demand_s, line_share) for clients in every}
    simulated, calculated = (
        {clients: engine.simulate(system, SEED).transactions_per_s for clients, system in systems.items()}
        for engine in (kernel, analytic)
    )
    return ScalingFit(demand_s, line_share, simulated, calculated)


@cache
def fits() -> dict[str, ScalingFit]:
    """All sets at their measured numbers of clients."""
    return {name: fit(measured, tuple(measured.points)) for name, measured in measured_sets().items()}


def errors(name: str) -> dict[int, float]:
    """Relative errors of the predicted points, by clients."""
    measured, found = measured_sets()[name], fits()[name]
    return {
        clients: found.kernel_per_s[clients] / rate - 1.0
        for clients, rate in measured.points.items()
        if clients not in measured.fitted
    }


def summary() -> str:
    """A line for each set."""
    lines = [
        "| set | machine | fitted at | CPU time alone | shared lines fetched | predicted points | mean error | worst |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, measured in measured_sets().items():
        found, off = fits()[name], errors(name)
        worst = max(off, key=lambda clients: abs(off[clients]))
        alone, full = measured.fitted
        lines.append(
            f"| {name} | {measured.machine} | {alone} and {full} clients | {1e3 * found.demand_s:.2f} ms | "
            f"{found.lines(measured.cpu):,.0f} of {cache_line_ns(measured.cpu):.0f} ns | {len(off)} | "
            f"{100 * float(np.mean(np.abs(list(off.values())))):.1f} % | {100 * off[worst]:+.1f} % at {worst} |"
        )
    return "\n".join(lines) + "\n"


def details() -> str:
    """A line for each point."""
    lines = [
        "| set | clients | measured | kernel | error | analytic | row is |",
        "| --- | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for name, measured in measured_sets().items():
        for clients, rate in measured.points.items():
            mine, calculated = (each[clients] for each in (fits()[name].kernel_per_s, fits()[name].analytic_per_s))
            role = "fitted" if clients in measured.fitted else "predicted"
            error = 100 * (mine / rate - 1.0)
            lines.append(
                f"| {name} | {clients} | {rate:,.0f} | {mine:,.0f} | {error:+.1f} % | {calculated:,.0f} | {role} |"
            )
    return "\n".join(lines) + "\n"


def charts() -> list[Chart]:
    """Measured points and the model's line for each set."""
    drawn = []
    for (name, measured), colour in zip(measured_sets().items(), SERIES_COLOURS, strict=False):
        clients, found = [float(each) for each in measured.points], fits()[name]
        first = not drawn
        rates = [*measured.points.values()]
        both = [
            Curve(x=clients, y=[*found.kernel_per_s.values()], colour=colour, label="model" if first else ""),
            Curve(
                x=clients,
                y=rates,
                width=0.0,
                symbols=["circle" if each in measured.fitted else "circle-open" for each in measured.points],
                colour="#222222",
                label="measured: filled ones fitted" if first else "",
            ),
        ]
        drawn.append(
            Chart(
                key=name,
                title=f"{name}: {measured.cores} cores, {measured.cpu.threads} hardware threads",
                alternative=f"transactions a second by clients, {name}",
                marks=both,
                x=Scale(low=0.0, high=max(clients) * 1.03),
                y=Scale(low=0.0, high=1.1 * max(rates)),
                height_px=190,
            )
        )
    return drawn


def digest() -> str:
    """Hash of what the picture shows, which its SVG names."""
    return picture_digest(TITLE, charts())


def page(text: str) -> str:
    """The page with today's tables."""
    for block, content in (("the sets", summary()), ("the points", details())):
        text = replaced(text, BEGIN, END, content, block)
    return text


def main() -> None:
    """Fit, simulate, write."""
    write_whole(PAGE, page(PAGE.read_text(encoding="utf-8")))
    write_whole(PICTURE, picture_svg(TITLE, charts()))


if __name__ == "__main__":
    main()
