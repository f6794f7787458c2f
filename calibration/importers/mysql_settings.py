"""MySQL's or MariaDB's settings: SHOW GLOBAL VARIABLES (tab-separated or in frames), or the server's option file.

Trap: an option file says what was asked for, the variables what is in force; sizes there may end in K, M or G.
"""

import re

from oltpsim.calibration.records import FileReading
from oltpsim.models.input import SourceFile

KIND = "MySQL settings"
ROW = re.compile(r"^\|?\s*([a-z][\w-]*)\s*(?:\t|\||=)\s*(.*?)\s*\|?$")
SETTINGS = (
    "innodb_buffer_pool_size", "innodb_buffer_pool_instances", "innodb_flush_log_at_trx_commit",
    "innodb_flush_method", "innodb_io_capacity", "innodb_doublewrite", "innodb_redo_log_capacity",
    "innodb_log_file_size", "sync_binlog",
)  # fmt: skip
SIZES = {"": 1.0, "K": 2.0**10, "M": 2.0**20, "G": 2.0**30, "T": 2.0**40}


def detect(file: SourceFile) -> bool:
    """By the pool's size."""
    return bool(re.search(r"^\|?\s*innodb[_-]buffer[_-]pool[_-]size\s*[\t|=]", file.head, re.MULTILINE))


def read(file: SourceFile) -> FileReading:
    """The settings that decide throughput. Raises InputError for a size that is none."""
    reading = FileReading(KIND, file.name)
    for at, line in enumerate(file.whole_lines, 1):
        match = ROW.match(line)
        name = match[1].replace("-", "_") if match else ""
        if match is None or name not in SETTINGS or not match[2]:
            continue
        reading.add_text(("engine", "settings", name), match[2], f"line {at}", "setting")
        if name == "innodb_buffer_pool_size":
            word = match[2].upper()
            unit = word[-1:] if word[-1:] in "KMGT" else ""
            size = file.number(word.removesuffix(unit), f"line {at}, {name}") * SIZES[unit] / 2**30
            reading.add("engine.buffer_pool_gib", size, f"{unit}B", f"line {at}", "size of the pool")
    reading.set_database("MySQL or MariaDB", "innodb_ settings")
    return reading
