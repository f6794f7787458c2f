"""Whether a snapshot of counters was taken before or after the run, by the file's name."""

from __future__ import annotations

import re

BEFORE = {"start", "before", "begin", "pre"}
AFTER = {"end", "after", "stop", "post"}


def phase_of(name: str) -> str | None:
    """`start`, `end`, or None if the name doesn't say."""
    words = set(re.split(r"[^a-z0-9]+", name.lower().rsplit("/", 1)[-1]))
    if words & BEFORE and not words & AFTER:
        return "start"
    if words & AFTER and not words & BEFORE:
        return "end"
    return None
