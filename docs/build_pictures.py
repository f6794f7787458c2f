"""Write docs/pictures/*.svg and the tables of docs/curves.md from the sweeps in docs/pictures/data.

python docs/build_pictures.py               draw again from the data
python docs/build_pictures.py --simulate    run the sweeps first; a stopped one goes on where it was
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from docs.build import replaced
from oltpsim.models.input import write_whole
from oltpsim.scenarios.library import scenario_loader
from oltpsim.scenarios.questions.sweep import (
    Axis,
    ReplicationRule,
    Sweep,
    SweepPoint,
    SweepRunner,
    parse_axis,
    sweep_from_json,
    sweep_json,
    sweep_points,
)
from oltpsim.scenarios.run import Store, default_workers
from oltpsim.scenarios.show.picture import picture_digest, picture_svg
from oltpsim.scenarios.show.progress import progress_display
from oltpsim.scenarios.show.sweep import sweep_chart, sweep_table

FOLDER = Path(__file__).parent / "pictures"
PAGE = Path(__file__).parent / "curves.md"
BEGIN, END = "<!-- begin of {}: python docs/build_pictures.py -->\n", "<!-- end of {} -->\n"
STORE = Path(__file__).parent.parent / "out" / "pictures.sqlite"
SCENARIO = "v20z"
INTERVAL = ("interval.start=warm", "interval.warm_up_s=300", "interval.duration_s=1500")


@dataclass(frozen=True)
class SweepPicture:
    """A sweep of the example machine over one field or two."""

    name: str
    title: str
    vary: tuple[str, ...]
    settings: tuple[str, ...] = ()


PICTURES = (
    SweepPicture(
        "buffers",
        "Buffers against page cache and swap: 2 GiB, 1 disk",
        ("database.pool.buffers=43000,60000,80000,100000,120000,135000,150000",),
    ),
    SweepPicture(
        "memory",
        "More memory, same 80,000 buffers: the rest caches files",
        ("machine.memory_gib=1.25,1.5,2,3,4,6,8",),
        ("database.pool.buffers=80000",),
    ),
    SweepPicture(
        "disks",
        "More disks: linear while they limit, flat in memory",
        ("machine.disks.count=1:4:1", "workload.active_warehouses=10,40"),
    ),
    SweepPicture(
        "warehouses",
        "More warehouses, same 80 clients: locks, then caches",
        ("workload.warehouses=5,10,20,30,40,60,80",),
    ),
)


def data_of(picture: SweepPicture) -> Path:
    """Where the sweep of a picture is kept."""
    return FOLDER / "data" / f"{picture.name}.json"


def axes_of(picture: SweepPicture) -> list[Axis]:
    """What a picture varies."""
    return [parse_axis(text) for text in picture.vary]


def points(picture: SweepPicture) -> list[SweepPoint]:
    """The scenarios that a picture's points stand for."""
    return sweep_points(scenario_loader(SCENARIO, (*INTERVAL, *picture.settings)), axes_of(picture))


def simulate(picture: SweepPicture) -> None:
    """Run the sweep of a picture and keep its data."""
    STORE.parent.mkdir(exist_ok=True)
    with Store(STORE) as store:
        runner = SweepRunner(points(picture), store, 1, ReplicationRule())
        with progress_display(quiet=False) as shown:
            runner.run(default_workers(), shown)
        write_whole(data_of(picture), sweep_json(runner.sweep(SCENARIO, axes_of(picture))))


def stored(picture: SweepPicture) -> Sweep:
    """The data of a picture."""
    data = data_of(picture)
    return sweep_from_json(data.read_text(encoding="utf-8"), data.name)


def drawing(picture: SweepPicture) -> str:
    """The picture as SVG, from its data."""
    return picture_svg(picture.title, [sweep_chart(stored(picture))])


def digest(picture: SweepPicture) -> str:
    """Hash of what the picture shows, which its SVG names."""
    return picture_digest(picture.title, [sweep_chart(stored(picture))])


def table(picture: SweepPicture) -> str:
    """The data as docs/curves.md shows them below the picture."""
    return f"```text\n{sweep_table(stored(picture)).rstrip()}\n```\n"


def write_table(picture: SweepPicture) -> None:
    """Put the table of a picture between its marks in docs/curves.md."""
    write_whole(PAGE, replaced(PAGE.read_text(encoding="utf-8"), BEGIN, END, table(picture), picture.name))


def main(arguments: list[str]) -> None:
    """Draw all pictures, with --simulate from new data; other words name the pictures wanted."""
    chosen = [picture for picture in PICTURES if picture.name in arguments]
    for picture in chosen or PICTURES:
        if "--simulate" in arguments:
            simulate(picture)
        write_whole(FOLDER / f"{picture.name}.svg", drawing(picture))
        write_table(picture)


if __name__ == "__main__":
    main(sys.argv[1:])
