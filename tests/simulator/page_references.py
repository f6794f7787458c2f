"""The kernel's caches under references that a test has drawn: nothing takes time, and nobody else refers to a page."""

import dataclasses
from typing import NamedTuple

from oltpsim.simulator.form import Assembler, FlashDevice, IntArray, System
from oltpsim.simulator.kernel import KernelEngine
from oltpsim.simulator.results.snapshot import difference
from tests.simulator.conftest import make_model

BATCH, TICK_NS = 100, 1000


class Counted(NamedTuple):
    """Of the references that are counted; `swap_ins`: hits and victims that the memory behind them was missing of."""

    misses: int
    swap_ins: int


def counted(
    references: IntArray,
    warm: int,
    pool_pages: int,
    replacement: str,
    resident_pages: int | None = None,
    *,
    batch: int = BATCH,
    tick_ns: int = TICK_NS,
) -> Counted:
    """Counts among the references behind the first `warm` ones; both numbers are multiples of `batch`.

    `batch`, `tick_ns`: references of a transaction, and what passes between two of these.
    """
    assert len(references) % batch == warm % batch == 0
    engine = KernelEngine(
        referring(references, pool_pages, replacement, resident_pages or pool_pages, batch, tick_ns), 1
    )
    engine.kernel.run(warm // batch * tick_ns)
    before = engine.kernel.figures().counters.pool
    engine.kernel.run(len(references) // batch * tick_ns)
    new = difference(engine.kernel.figures().counters.pool, before)
    assert new.references == len(references) - warm
    return Counted(new.misses, new.swap_ins)


def referring(
    references: IntArray, pool_pages: int, replacement: str, resident_pages: int, batch: int, tick_ns: int
) -> System:
    """One client that takes one page after the other from a counter table. The page cache holds all pages."""
    pages = int(references.max()) + 1
    asm = Assembler()
    zero, left, place, row = (asm.register(name) for name in ("zero", "left", "place", "row"))
    following, drawn = asm.counter("following", 1, 0), asm.counter("drawn", len(references), references)
    region = asm.region("pages", 1, pages, 1)
    asm.loaded(region, 0, pages)
    page = asm.reference("page", "row", region, zero, row=row)
    asm.emit("think", asm.distribution("constant", 0), asm.stream("times"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("refer")
    asm.emit("set", left, batch)
    again = asm.label()
    asm.place(again)
    asm.emit("take", place, following, zero, 1)
    asm.emit("peek", row, drawn, place, 0)
    asm.emit("touch", page, 0, 0)
    asm.emit("loop", left, again)
    asm.emit("network", tick_ns)
    asm.emit("end")
    model = make_model(
        asm, pool_pages=pool_pages, replacement=replacement, resident_pages=resident_pages, cache_pages=pages,
        dirty_limit_pages=pages, devices=(FlashDevice("flash", 0, 0, 1),),
    )  # fmt: skip
    return dataclasses.replace(model, interval=dataclasses.replace(model.interval, start="after_load"))
