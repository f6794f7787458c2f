"""What every description is made of: units, frozen specs, YAML, sentences about what is wrong."""

from models.input.base import Name, Spec, Text
from models.input.documents import content_of, document, read_document, write_document
from models.input.keys import last_word, set_value, value_at, values_along
from models.input.problems import MOST_COMPARED, MOST_SHOWN, allowed_by, keys_of, kinds_of, nearest, sentence, shown
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
from models.input.validation import validated
from models.input.whole_file import write_whole, written_whole
from models.input.yaml_input import MOST_BYTES, as_mapping, parse_yaml, read_mapping

__all__ = [
    "LOCALE_REMEDY",
    "MOST_BYTES",
    "MOST_COMPARED",
    "MOST_SHOWN",
    "SQLITE_MAGIC",
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
    "content_of",
    "document",
    "keys_of",
    "kinds_of",
    "last_word",
    "nearest",
    "parse",
    "parse_yaml",
    "read_document",
    "read_mapping",
    "sentence",
    "set_value",
    "shorten",
    "shown",
    "validated",
    "value_at",
    "values_along",
    "write_document",
    "write_whole",
    "written_whole",
]
