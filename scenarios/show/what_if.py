"""What-if panel of a report: sliders over a grid that was calculated before, and its tables for paper.

Texts are written here; the page only picks the cell at the sliders' places and draws the curve along one of them.
"""

from dataclasses import dataclass

from oltpsim.calibration.predict import FORMULAS
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.questions.what_if import BUFFERS, CLIENTS, DISKS, RAM, MachineAnswer, VariedSetting, WhatIf
from oltpsim.scenarios.show.chart import Chart, Json, Scale
from oltpsim.scenarios.show.numbers import NONE, between, count, share, signed_share, significant, time_text
from oltpsim.scenarios.show.words import class_name, unit_of
from oltpsim.simulator.form import GIB, KIB

KEY = "what-if"
LABELS = {RAM: "RAM", BUFFERS: "Buffer pool", CLIENTS: "Clients", DISKS: "Disks"}


@dataclass(frozen=True)
class Slider:
    """Slider over one setting: the text at each of its places, and the machine's own place."""

    id: str
    label: str
    texts: tuple[str, ...]
    now: int


@dataclass(frozen=True)
class WhatIfRow:
    """Row of a table: a setting's value and the cell's texts; `refused` holds the reason in place of all but it."""

    value: str
    is_now: bool
    rate: str
    interval: str
    limit: str
    response: str
    refused: str
    doubts: tuple[int, ...]
    """numbers of footnotes"""


@dataclass(frozen=True)
class Panel:
    """What the report shows of a grid."""

    unit: str
    main_class: str
    confidence: str
    sliders: tuple[Slider, ...]
    tables: tuple[tuple[Slider, tuple[WhatIfRow, ...]], ...]
    """of each slider with the others at the machine's own values"""
    doubts: tuple[str, ...]
    """footnotes of the tables"""
    cells: Json
    """for the page's script: texts of every cell, and the numbers of its chart"""
    chart: Chart


def what_if_panel(grid: WhatIf, scenario: ScenarioSpec) -> Panel:
    """The grid in words."""
    sliders = tuple(
        Slider(axis.key.replace(".", "-"), LABELS[axis.key], _texts(axis, scenario), axis.now) for axis in grid.axes
    )
    notes = list(dict.fromkeys(text for cell in grid.cells if isinstance(cell, MachineAnswer) for text in cell.doubts))
    now = grid.at(grid.now)
    own_per_min = now.rate_per_min if isinstance(now, MachineAnswer) else 0.0
    tables, shown = [], list[str]()
    for number, (axis, slider) in enumerate(zip(grid.axes, sliders, strict=True)):
        places = [(*grid.now[:number], place, *grid.now[number + 1 :]) for place in range(len(axis.values))]
        rows = [_row(slider, place[number], grid.at(place), shown) for place in places]
        tables.append((slider, tuple(rows)))
    unit = unit_of(grid.main_class)
    cells: Json = {
        "sliders": [{"id": each.id, "label": each.label, "texts": each.texts, "now": each.now} for each in sliders],
        "notes": notes,
        "cells": [_cell(cell, own_per_min, notes) for cell in grid.cells],
        "unit": unit,
    }
    return Panel(
        unit=unit,
        main_class=class_name(grid.main_class),
        confidence=f"interval of {FORMULAS} alone",
        sliders=sliders,
        tables=tuple(tables),
        doubts=tuple(shown),
        cells=cells,
        chart=_chart(unit),
    )


def _texts(axis: VariedSetting, scenario: ScenarioSpec) -> tuple[str, ...]:
    def text(value: float) -> str:
        if axis.key == RAM:
            return f"{significant(value)} GiB"
        if axis.key == BUFFERS:
            gib = value * scenario.database.pool.memory_per_buffer_kib * KIB / GIB
            return f"{count(value)} ({significant(gib)} GiB)"
        return count(value)

    return tuple(text(value) for value in axis.values)


def _interval(answer: MachineAnswer) -> str:
    if answer.low_per_min is None or answer.high_per_min is None:
        return "no interval"
    return f"[{between(answer.low_per_min, answer.high_per_min)}]"


def _response(answer: MachineAnswer) -> str:
    end = ", percentiles not known" if answer.p95_s is None else f", 95 % within {time_text(answer.p95_s)}"
    return f"mean {time_text(answer.response_s)}{end}"


def _limit(answer: MachineAnswer) -> str:
    return f"{answer.bottleneck}, {share(answer.bottleneck_share)}"


def _cell(cell: MachineAnswer | str, own_per_min: float, notes: list[str]) -> Json:
    """One machine for the page's script."""
    if isinstance(cell, str):
        return {"refused": cell}
    change = signed_share(cell.rate_per_min / own_per_min - 1.0) if own_per_min else NONE
    ends = (cell.low_per_min, cell.high_per_min)
    return {
        "at": [float(f"{each:.5g}") for each in (cell.rate_per_min, *(end for end in ends if end is not None))],
        "rate": count(cell.rate_per_min),
        "interval": _interval(cell),
        "change": change,
        "limit": _limit(cell),
        "response": _response(cell),
        "notes": [notes.index(text) for text in cell.doubts],
    }


def _row(slider: Slider, place: int, cell: MachineAnswer | str, shown: list[str]) -> WhatIfRow:
    """A row of a table; texts of its doubts are added to `shown`."""
    value, is_now = slider.texts[place], place == slider.now
    if isinstance(cell, str):
        return WhatIfRow(value, is_now, NONE, "", "", "", cell, ())
    shown += [text for text in cell.doubts if text not in shown]
    doubts = tuple(shown.index(text) + 1 for text in cell.doubts)
    rate = count(cell.rate_per_min)
    return WhatIfRow(value, is_now, rate, _interval(cell), _limit(cell), _response(cell), "", doubts)


def _chart(unit: str) -> Chart:
    """The frame; its curve and its scales are the script's."""
    return Chart(
        key=KEY,
        title=f"{unit[0].upper()}{unit[1:]}, one setting varied",
        alternative="The tables below have the figures.",
        marks=(),
        x=Scale(low=0.0, high=1.0, ticks={}),
        y=Scale(low=0.0, high=1.0, ticks={}),
        height_px=260,
    )
