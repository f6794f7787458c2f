"""Assumptions: what a description leaves open, kept in a scenario's notes until a setting says it."""

NOTE = "assumption: "


def assumption(words: str, source: str) -> str:
    """A note of what is assumed, and why or how it is changed."""
    return f"{NOTE}{words}; {source}"


def key_of(setting: str) -> str:
    """The key of a setting key=value."""
    return setting.partition("=")[0].strip()


def stands_in(key: str, other: str) -> bool:
    """Whether a key is another one, or below it: `machine.cpu.cores` in `machine.cpu`."""
    return f"{key}.".startswith(f"{other}.")
