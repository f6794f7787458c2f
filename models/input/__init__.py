"""What every description is made of: units, frozen specs, YAML, sentences about what is wrong."""

from models.input.base import Name, Spec, Text
from models.input.problems import JOB_KINDS, MOST_COMPARED, MOST_SHOWN, UNION_TAGS, allowed_by, nearest, sentence, shown
from models.input.quantities import (
    Fraction,
    Gib,
    Kib,
    Mib,
    MibPerSecond,
    Microseconds,
    Milliseconds,
    Nanoseconds,
    Number,
    PerSecond,
    Seconds,
    WholeNumber,
    parse,
)
from models.input.source_file import LOCALE_REMEDY, SQLITE_MAGIC, SourceFile, shorten
from models.input.yaml_input import MOST_BYTES, as_mapping, parse_yaml, read_mapping

__all__ = [
    "JOB_KINDS",
    "LOCALE_REMEDY",
    "MOST_BYTES",
    "MOST_COMPARED",
    "MOST_SHOWN",
    "SQLITE_MAGIC",
    "UNION_TAGS",
    "Fraction",
    "Gib",
    "Kib",
    "Mib",
    "MibPerSecond",
    "Microseconds",
    "Milliseconds",
    "Name",
    "Nanoseconds",
    "Number",
    "PerSecond",
    "Seconds",
    "SourceFile",
    "Spec",
    "Text",
    "WholeNumber",
    "allowed_by",
    "as_mapping",
    "nearest",
    "parse",
    "parse_yaml",
    "read_mapping",
    "sentence",
    "shorten",
    "shown",
]
