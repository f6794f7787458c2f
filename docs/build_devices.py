"""Write the table of docs/devices.md and docs/pictures/devices.svg: fio's curves, four depths of each disk fitted."""

from __future__ import annotations

import csv
import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from docs.build import replaced
from oltpsim.calibration.fit import TableFit, disk_table, fit_table
from oltpsim.calibration.records import DiskPoint
from oltpsim.models.input import write_whole

DOCS = Path(__file__).resolve().parent
PAGE, PICTURE = DOCS / "devices.md", DOCS / "pictures" / "devices.svg"
DATA = DOCS.parent / "calibration" / "runs" / "fio" / "fio_plot.csv"
BEGIN, END = "<!-- begin of the table: python docs/build_devices.py -->\n", "<!-- end of the table -->\n"
DOUBTED = "WD740GD"
"""the file asks to reproduce it before it is trusted"""
WANTED = 0.08
COLUMNS, WIDTH, HEIGHT, MARGIN = 3, 250, 170, 34
BLOCK_KIB = 4.0
JOBS = (1, 2, 4, 16)
"""Rule: of a curve 1, 4, 16 and 256 in flight (iodepth x jobs) are fitted, with as many jobs as each has in flight: one
alone, four, sixteen, and the full depth that data sheets are measured at. All other points are predicted."""


@dataclass(frozen=True)
class MeasuredCurve:
    """One device in one direction, and the fit of the whole device."""

    device: str
    write: bool
    points: list[DiskPoint]
    fitted: list[DiskPoint]
    fit: TableFit

    def per_s(self, in_flight: Sequence[float]) -> list[float]:
        """Rates of the fit with so many in flight."""
        rows = np.ones(len(in_flight))
        table = replace(
            self.fit.table,
            in_flight=np.array(in_flight),
            block_kib=BLOCK_KIB * rows,
            write_fraction=self.write * rows,
            per_s=rows,
        )
        return [float(per_s) for per_s in self.fit.kind.per_s(table, self.fit.numbers)]

    @property
    def errors(self) -> list[float]:
        """Of every point, relative."""
        rates = self.per_s([point.depth for point in self.points])
        return [abs(rate / point.per_s - 1.0) for rate, point in zip(rates, self.points, strict=True)]

    @property
    def error(self) -> float:
        """Their mean."""
        return sum(self.errors) / len(self.errors)

    @property
    def name(self) -> str:
        """In words."""
        return f"{self.device.replace('_', ' ')}, {'writes' if self.write else 'reads'}"


def curves() -> list[MeasuredCurve]:
    """All curves of the file, two of each device, which is fitted by both."""
    points: dict[tuple[str, bool], list[DiskPoint]] = {}
    fitted: dict[tuple[str, bool], list[DiskPoint]] = {}
    with DATA.open(encoding="utf-8") as file:
        for at, row in enumerate(csv.DictReader(line for line in file if not line.startswith("#"))):
            depth, jobs, way = int(row["iodepth"]), int(row["jobs"]), row["rw"].removeprefix("rand")
            point = DiskPoint(f"{at}", way, depth * jobs, BLOCK_KIB, float(row["iops"]), math.nan, math.nan)
            curve = row["device"], way == "write"
            points.setdefault(curve, []).append(point)
            if depth == jobs and jobs in JOBS:
                fitted.setdefault(curve, []).append(point)
    fits = {}
    for device in {device: None for device, _ in points}:
        table = disk_table(fitted[device, False] + fitted[device, True], 10_000.0 if DOUBTED in device else 7200.0)
        fits[device] = fit_table(table)[0]
    return [MeasuredCurve(*curve, points[curve], fitted[curve], fits[curve[0]]) for curve in points]


def numbers_of(curve: MeasuredCurve) -> str:
    """The kind's numbers of a direction with their intervals."""
    fit = curve.fit
    names = fit.kind.write_numbers if curve.write else fit.kind.read_numbers
    return ", ".join(
        f"{name} {fit.numbers[name]:.3g} [{fit.intervals[name][0]:.3g} .. {fit.intervals[name][1]:.3g}]"
        for name in names
        if name in fit.numbers
    )


def table(every: list[MeasuredCurve]) -> str:
    """The page's table, and its sums."""
    lines = [
        "| curve | kind of the disk | its numbers [90 %] | points | mean error |",
        "| --- | --- | --- | --- | --- |",
    ]
    trusted = [curve for curve in every if DOUBTED not in curve.device]
    for curve in sorted(every, key=lambda one: DOUBTED in one.device):
        apart = " (doubted)" if DOUBTED in curve.device else ""
        words = f"{curve.name}{apart} | {curve.fit.kind.name} | {numbers_of(curve)}"
        lines.append(f"| {words} | {len(curve.points)} | {curve.error:.1%} |")
    errors = [error for curve in trusted for error in curve.errors]
    good = sum(curve.error <= WANTED for curve in trusted)
    mean = sum(errors) / len(errors)
    sums = f"{len(trusted)} trusted curves, {len(errors)} points: mean error {mean:.1%}; {good} within {WANTED:.0%}."
    return "\n".join([*lines, "", sums, ""])


def picture(every: list[MeasuredCurve]) -> str:
    """All curves, measured as circles, the fitted points full, the fit as a line; both axes logarithmic."""
    rows = math.ceil(len(every) / COLUMNS)
    size = f"{COLUMNS * WIDTH} {rows * HEIGHT + 24}"
    font = 'font-family="Helvetica, Arial, sans-serif" font-size="9" fill="#222"'
    head = "Requests/s by the number in flight. Circles: measured; full ones: fitted; line: predicted"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" {font}>',
        "<title>fio's random reads and writes by the number in flight: measured and predicted</title>",
        f'<rect width="{COLUMNS * WIDTH}" height="{rows * HEIGHT + 24}" fill="#fff"/>',
        f'<text x="8" y="15" font-size="12">{head}</text>',
    ]
    for number, curve in enumerate(every):
        left, top = number % COLUMNS * WIDTH + MARGIN, number // COLUMNS * HEIGHT + 24 + 16
        wide, tall = WIDTH - MARGIN - 8, HEIGHT - MARGIN - 10
        rates = [point.per_s for point in curve.points]
        most, least = max(rates), min(rates)
        low, high, end = math.log(least / 1.5), math.log(most * 1.5), math.log(4096)

        def place(
            in_flight: float, per_s: float, at: tuple[float, ...] = (left, top, wide, tall, low, high, end)
        ) -> str:
            x0, y0, w, h, bottom, ceiling, last = at
            y = y0 + h - h * (math.log(per_s) - bottom) / (ceiling - bottom)
            return f"{x0 + w * math.log(in_flight) / last:.1f},{y:.1f}"

        parts.append(f'<rect x="{left}" y="{top}" width="{wide}" height="{tall}" fill="none" stroke="#bbb"/>')
        short = curve.name if len(curve.name) < 48 else f"{curve.name[:34]} .. {curve.name[-8:]}"
        parts.append(f'<text x="{left}" y="{top - 4}">{html.escape(short)}: {curve.error:.1%}</text>')
        for per_s in (least, most):
            y = place(1, per_s).partition(",")[2]
            parts.append(f'<text x="{left - 3}" y="{y}" text-anchor="end">{per_s:,.0f}</text>')
        for in_flight in (1, 16, 256, 4096):
            x = place(in_flight, most).partition(",")[0]
            parts.append(f'<text x="{x}" y="{top + tall + 11}" text-anchor="middle">{in_flight}</text>')
        steps = [2.0 ** (step / 4) for step in range(49)]
        line = " ".join(place(n, per_s) for n, per_s in zip(steps, curve.per_s(steps), strict=True))
        parts.append(f'<polyline points="{line}" fill="none" stroke="#0072b2" stroke-width="1.4"/>')
        for point in sorted(curve.points, key=lambda each: each in curve.fitted):
            x, _, y = place(point.depth, point.per_s).partition(",")
            fill, size = ("#d55e00", 3.2) if point in curve.fitted else ("none", 2)
            parts.append(f'<circle cx="{x}" cy="{y}" r="{size}" fill="{fill}" stroke="#d55e00" stroke-width="0.7"/>')
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    """Fit all curves; write the table and the picture."""
    every = curves()
    write_whole(PAGE, replaced(PAGE.read_text(encoding="utf-8"), BEGIN, END, table(every)))
    write_whole(PICTURE, picture(every))


if __name__ == "__main__":
    main()
