"""The pages that TPC-C's transactions refer to, one after the other, without any time passing."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.kernel_parts import Int32Array, record_reads
from benchmarks.pages import model_of
from oltpsim.simulator.form import Pool


def page_stream(warehouses: int, references: int) -> tuple[Int32Array, int]:
    """So many references, and the number of pages that there are. A client per warehouse, a transaction each in turn.

    A buffer pool of one page reports each reference to another page than the last one as a read.
    """
    model = model_of(100_000, warehouses, warehouses, 1.0)
    model = replace(model, pool=Pool(1, "lru", 1), direct_io=True)
    return record_reads(model, references), model.program.pages
