"""What a HammerDB run was asked for, in a file beside its result: a script's `diset` lines, or a wrapper's JSON.

Trap: `diset` says how many users build the schema, too (`pg_num_vu`); those that run are `vuset vu`.
"""

import json
import re

from oltpsim.calibration.importers import hammerdb
from oltpsim.calibration.records import FileReading, ResultRank
from oltpsim.models.input import SourceFile

KIND = "HammerDB parameters"
SETTING = re.compile(r"^\s*diset\s+tpcc\s+(\w+)\s+\{?([^\s}]+)", re.MULTILINE)
USERS = re.compile(r"^\s*vuset\s+vu\s+(\d+)\s*$", re.MULTILINE)
WAREHOUSES = "warehouses of the schema"


def detect(file: SourceFile) -> bool:
    """By lines that set a parameter of TPROC-C, or by a wrapper's keys."""
    if file.head.lstrip().startswith("{"):
        return all(key in file.head for key in ('"hammerdb_version"', '"virtual_users"', '"warehouses"'))
    return SETTING.search(file.head) is not None


def read(file: SourceFile) -> FileReading:
    """Warehouses, users, timed period and ramp-up. Raises InputError for a number that is none."""
    reading = FileReading(KIND, file.name, tool=hammerdb.TOOL, rank=ResultRank.DETAIL)
    if file.head.lstrip().startswith("{"):
        _read_json(file, reading)
    else:
        _read_script(file, reading)
    return reading


def _read_script(file: SourceFile, reading: FileReading) -> None:
    values = {name: file.number(text, name) for name, text in SETTING.findall(file.text) if _is_read(name)}
    named = {name.partition("_")[2]: value for name, value in values.items()}
    if "count_ware" in named:
        reading.add("workload.warehouses", named["count_ware"], "warehouses", "count_ware", WAREHOUSES)
    if "duration" in named:
        hammerdb.period(reading, named["duration"], named.get("rampup"), "duration, rampup")
    users = USERS.findall(file.text)
    if users:
        hammerdb.users(reading, file.number(users[-1], "vuset vu"), "vuset vu")


def _is_read(name: str) -> bool:
    return name.partition("_")[2] in {"count_ware", "duration", "rampup"}


def _read_json(file: SourceFile, reading: FileReading) -> None:
    try:
        found = json.loads(file.text)
    except ValueError:
        file.truncated("the rest of the JSON value")

    def minutes(name: str) -> float | None:
        for key, per_minute in ((f"{name}_minutes", 1.0), (f"{name}_seconds", 60.0)):
            if found.get(key) is not None:
                return file.number(found[key], key) / per_minute
        return None

    reading.add("workload.warehouses", file.number(found["warehouses"], "warehouses"), "warehouses", "warehouses",
                WAREHOUSES)  # fmt: skip
    hammerdb.users(reading, file.number(found["virtual_users"], "virtual_users"), "virtual_users")
    duration = minutes("duration")
    if duration is not None:
        hammerdb.period(reading, duration, minutes("rampup"), "duration, rampup")
