"""What every description is made of: units, frozen specs, YAML, sentences about what is wrong."""

from oltpsim.models.input.base import Name, Spec, Text, descriptions
from oltpsim.models.input.documents import (
    content_of,
    document_text,
    read_document,
    write_document,
    write_whole,
    written_whole,
)
from oltpsim.models.input.keys import key_words, last_word, leaves, numbered_words, set_value, value_at, values_along
from oltpsim.models.input.problems import (
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
from oltpsim.models.input.quantities import (
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
from oltpsim.models.input.source_file import CUT_OFF, DAMAGED, LOCALE_REMEDY, SQLITE_MAGIC, SourceFile, short_text
from oltpsim.models.input.yaml_input import MOST_BYTES, as_mapping, parse_yaml, read_mapping, yaml_text
