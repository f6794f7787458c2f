"""Settings of a database server, by the table beside this file: the scenario's key that each sets, or why it sets none.

Traps: K, M and G of an option file are powers of 1024; pg_settings writes a size in blocks (16384 8kB), and a bare
number of postgresql.conf has a unit of its own (max_wal_size 1024 is MB). innodb_log_file_size is that of one file out
of innodb_log_files_in_group (MariaDB since 10.5: one), and counts for nothing beside innodb_redo_log_capacity, unless
that one has its default (MySQL 8.0.30 on shows it then, too). A commit waits for the syncs of redo and binary log.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from oltpsim.models.input import Spec, read_mapping, validated

SIZE = re.compile(r"(\d+\.?\d*)\s*(?:(\d*)([kmgt]?)(?:i?b)?)", re.IGNORECASE)
TIME = re.compile(r"(\d+\.?\d*)\s*(us|ms|s|min|h|d)?", re.IGNORECASE)
SIZES = {"": 1.0, "k": 2.0**10, "m": 2.0**20, "g": 2.0**30, "t": 2.0**40}
TIMES_S = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
SWITCHES = {
    **dict.fromkeys(("on", "1", "yes", "true", "detect_and_recover"), True),
    **dict.fromkeys(("off", "0", "no", "false"), False),
}
ScenarioValue = float | int | str | bool
REDO = "database.page_cleaner.redo_capacity_gib"
COMMIT, SYNCS = "database.log.commit", "database.log.syncs_per_group"
REDO_SETTINGS = ("innodb_redo_log_capacity", "innodb_log_file_size", "innodb_log_files_in_group")
COMMIT_SETTINGS = ("innodb_flush_log_at_trx_commit", "sync_binlog", "log_bin")
DEFAULT_CAPACITY_GIB, DEFAULT_FILES = 0.09765625, 2
"""innodb_redo_log_capacity 100 MiB; innodb_log_files_in_group of MySQL and of MariaDB before 10.5"""


class ServerSetting(Spec):
    """A row of the table. `bare`: unit of a number without one; `why`: why there is no key."""

    key: str = ""
    form: Literal["number", "whole", "percent", "size", "time", "switch", "choice"] = "number"
    bare: Literal["", "k", "m", "g"] = ""
    choices: dict[str, bool | int | str] = Field(default_factory=dict)
    why: str = ""
    is_read_with_others: bool = False

    def value(self, text: str) -> ScenarioValue:
        """Its value for the scenario. Raises ValueError for a text that isn't of its form."""
        word = text.strip().strip("'\"").lower()
        if self.form in ("switch", "choice"):
            known = SWITCHES if self.form == "switch" else self.choices
            if word not in known:
                raise ValueError(f"isn't modelled; known: {', '.join(known)}")
            return known[word]
        if self.form == "size":
            return gib(word, self.bare)
        if self.form == "time":
            return seconds(word)
        number = float(word)
        return round(number) if self.form == "whole" else number / 100.0 if self.form == "percent" else number


def gib(text: str, bare: str = "") -> float:
    """GiB of a size; `bare`: the unit of a number without one. Raises ValueError."""
    match = SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError("is no size; write for example '4G'")
    has_unit = not text.strip()[-1:].isdigit()
    return float(match[1]) * float(match[2] or 1) * SIZES[match[3].lower() if has_unit else bare] / SIZES["g"]


def seconds(text: str) -> float:
    """Seconds of a time, which a bare number is. Raises ValueError."""
    match = TIME.fullmatch(text.strip())
    if match is None:
        raise ValueError("is no time; write for example '5min'")
    return float(match[1]) * TIMES_S[(match[2] or "s").lower()]


@cache
def known_settings() -> Mapping[str, ServerSetting]:
    """The table, by the settings' names."""
    rows = read_mapping(Path(__file__).with_suffix(".yaml"))
    return {str(name): validated(ServerSetting, row, str(name)) for name, row in rows.items()}


@dataclass
class SettingEffects:
    """Effect of a run's settings. `keys`: the scenario's, with the value and the settings that say it."""

    keys: dict[str, tuple[ScenarioValue, str]] = field(default_factory=dict)
    without_key: list[str] = field(default_factory=list)
    """names with values of settings for which the model has no key"""
    unread: list[str] = field(default_factory=list)
    """a line for each setting whose value the model doesn't have"""

    def leave(self, name: str, text: str, why: ValueError) -> None:
        """Note that a setting sets nothing."""
        self.unread.append(f"engine.settings.{name}: {text}: {why}; the base's value stays")


def setting_effects(settings: Mapping[str, str], is_mariadb: bool, usual_syncs: int) -> SettingEffects:
    """What settings of a server set in a scenario; `usual_syncs`: of a commit, if no setting says them."""
    effects = SettingEffects()
    table = known_settings()
    for name, text in settings.items():
        row = table.get(name)
        if row is None or not row.key:
            if row is None or not row.is_read_with_others:
                effects.without_key.append(f"{name} {text}" + (f" ({row.why})" if row and row.why else ""))
            continue
        try:
            effects.keys[row.key] = row.value(text), name
        except ValueError as error:
            effects.leave(name, text, error)
    _add_redo(effects, settings, is_mariadb)
    _add_commit(effects, settings, usual_syncs)
    return effects


def _add_redo(effects: SettingEffects, settings: Mapping[str, str], is_mariadb: bool) -> None:
    """Capacity of the redo log: as it is said, or by its files."""
    names = [name for name in REDO_SETTINGS if name in settings]
    try:
        capacity, size = (gib(settings[name]) if name in settings else None for name in REDO_SETTINGS[:2])
        files = int(settings.get(REDO_SETTINGS[2], 1 if is_mariadb else DEFAULT_FILES))
    except ValueError as error:
        effects.leave(names[0], settings[names[0]], error)
        return
    if size is not None and capacity in (None, DEFAULT_CAPACITY_GIB):
        used = [name for name in names if name != REDO_SETTINGS[0]]
        effects.keys[REDO] = size * files, " and ".join(used)
    elif capacity is not None:
        effects.keys[REDO] = capacity, REDO_SETTINGS[0]


def _add_commit(effects: SettingEffects, settings: Mapping[str, str], usual_syncs: int) -> None:
    """Syncs that a commit waits for, of redo log and binary log, or PostgreSQL's."""
    if COMMIT in effects.keys or "fsync" in settings:
        if "fsync" in settings and SWITCHES.get(settings["fsync"].lower()) is False:
            effects.keys[COMMIT] = "buffered", "fsync"
        return
    names = [name for name in COMMIT_SETTINGS if name in settings]
    if not names:
        return
    try:
        redo = float(settings.get(COMMIT_SETTINGS[0], "1")) == 1
        every = float(settings["sync_binlog"]) if "sync_binlog" in settings else None
    except ValueError as error:
        effects.leave(names[0], settings[names[0]], error)
        return
    has_binlog = usual_syncs > 1
    if "log_bin" in settings:
        has_binlog = settings["log_bin"].lower() not in ("off", "0", "")
    syncs = redo + (has_binlog and (usual_syncs > 1 if every is None else every == 1))
    effects.keys[COMMIT] = "durable" if syncs else "buffered", " and ".join(names)
    effects.keys[SYNCS] = max(int(syncs), 1), " and ".join(names)
