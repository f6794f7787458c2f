"""What every description is made of: units, frozen specs, YAML, sentences about what is wrong."""

from models.input.base import Name, Spec, Text, descriptions
from models.input.documents import content_of, document_text, read_document, write_document, write_whole, written_whole
from models.input.keys import key_words, last_word, leaves, numbered_words, set_value, value_at, values_along
from models.input.problems import (
    MOST_COMPARED,
    MOST_SHOWN,
    did_you_mean,
    problem_keys,
    repeated_name,
    requirement,
    specs_by_kind,
    validated,
    value_text,
)
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
    parse_quantity,
)
from models.input.source_file import CUT_OFF, LOCALE_REMEDY, SQLITE_MAGIC, SourceFile, short_text
from models.input.yaml_input import MOST_BYTES, as_mapping, parse_yaml, read_mapping, yaml_text
