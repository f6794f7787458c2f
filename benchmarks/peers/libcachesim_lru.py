"""LRU of libcachesim over a trace in its own binary form, its hash table as large as the cache needs."""

# pyright: reportMissingImports=false

import time
from typing import Any

import libcachesim


def run(given: dict[str, Any]) -> dict[str, float]:
    reader = libcachesim.TraceReader(
        given["trace"],
        libcachesim.TraceType.ORACLE_GENERAL_TRACE,
        libcachesim.ReaderInitParam(ignore_obj_size=True),
    )
    cache = libcachesim.LRU(given["capacity"], hashpower=given["capacity"].bit_length() + 1)
    begin = time.process_time()
    misses, _ = cache.process_trace(reader)
    seconds = time.process_time() - begin
    return {"seconds": seconds, "hits": round((1 - misses) * given["references"])}
