"""YAML: read with errors that name file and line, plain data only, bounded, for a stranger wrote it; and written."""

import difflib
import re
from pathlib import Path
from typing import Any

import yaml
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

from oltpsim.simulator.errors import InputError

MOST_BYTES = 1 << 17
"""A long scenario has 10 KiB; a file of this size with a fault takes seconds to say so."""
MOST_DEPTH = 30
WIDTH = 140
"""of lines that are written, about"""


class _Plain(Composer, SafeConstructor):
    """Safe loading without the surprises of YAML 1.1: no aliases, tags, duplicate keys; 20:00 and 010 are text."""

    depth = 0
    peek_event: Any
    """the parser's"""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Refuse aliases (a few lines of them can stand for gigabytes), anchors, tags and deep nesting."""
        event: Any = self.peek_event()
        mark: Any = event.start_mark
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            problem = "anchors and aliases (& and *) are not allowed; write the value itself, in quotes if it is text"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=mark)
        tag = getattr(event, "tag", None)
        if tag:
            raise yaml.MarkedYAMLError(problem=f"tag {tag[:60]} is not allowed; write plain values", problem_mark=mark)
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise yaml.MarkedYAMLError(problem=f"nested deeper than {MOST_DEPTH}", problem_mark=mark)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Refuse a key that stands twice, and keys that are not words."""
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag != "tag:yaml.org,2002:str":
                raise yaml.MarkedYAMLError(problem="keys must be words, such as 'cores'", problem_mark=key.start_mark)
            if key.value in seen:
                problem = f"key '{key.value[:60]}' stands twice; keep one"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


class _PlainResolver(Resolver):
    """Text, numbers, truth values and null; nothing else."""


def _resolvers() -> dict[Any, list[tuple[str, re.Pattern[str]]]]:
    resolvers_by_letter = {}
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items():
        resolvers_by_letter[first] = [(tag, regexp) for tag, regexp in resolvers if tag.rsplit(":", 1)[1] == "null"]
    return resolvers_by_letter


_PlainResolver.yaml_implicit_resolvers = _resolvers()
_PlainResolver.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(?:true|false)$"), list("tf"))
_PlainResolver.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile(r"^[-+]?(?:0|[1-9][0-9]*)$"), list("-+0123456789")
)
_PlainResolver.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^(?:[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?|[-+]?\.inf|\.nan)$"),
    list("-+0123456789."),
)


class PlainLoader(_Plain, _PlainResolver, yaml.SafeLoader):
    """Loader whose sentences say what is wrong."""


if yaml.__with_libyaml__:

    class QuickLoader(_Plain, _PlainResolver, yaml.CSafeLoader):
        """The same by libyaml's scanner and parser, six times as fast, whose sentences are terser."""

        def __init__(self, text: str) -> None:
            yaml.CSafeLoader.__init__(self, text)
            Composer.__init__(self)

else:
    QuickLoader = PlainLoader  # type: ignore[assignment,misc]


def parse_yaml(text: str, where: str) -> Any:
    """One YAML document as plain data. Raises InputError with line and column."""
    if "\t" not in text:  # which libyaml allows in more places
        try:
            return QuickLoader(text).get_single_data()
        except (yaml.YAMLError, ValueError):
            pass  # again, for the sentence
    try:
        return PlainLoader(text).get_single_data()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise InputError(f"{where}: unreadable YAML{place}: {_reason(error)}") from error
    except (yaml.YAMLError, ValueError) as error:
        raise InputError(f"{where}: unreadable YAML: {str(error).splitlines()[0]}") from error


def _reason(error: yaml.MarkedYAMLError) -> str:
    reason = error.problem or error.context or "not YAML"
    if reason.startswith("but "):
        reason = f"{error.context}, {reason}"
    return f"{reason}; indent with spaces, not tabs" if r"'\t'" in reason else reason


def read_mapping(path: Path) -> dict[str, Any]:
    """The keys of a YAML file. Raises InputError for what is not there, not text, too large or not a mapping."""
    if not path.exists():
        folder = path.parent if path.parent.is_dir() else Path()
        nearest = difflib.get_close_matches(path.name, [p.name for p in folder.glob("*.yaml")], n=3, cutoff=0.5)
        hint = f"; in that folder: {', '.join(nearest)}" if nearest else ""
        raise InputError(f"{path}: no such file{hint}")
    if not path.is_file():
        raise InputError(f"{path}: is not a file; expected a YAML file")
    try:
        with path.open("rb") as file:
            stored = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}; check its permissions") from error
    if len(stored) > MOST_BYTES:
        raise InputError(f"{path}: got {path.stat().st_size} bytes; expected at most {MOST_BYTES}")
    try:
        text = stored.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text (byte {error.start}); expected a YAML file") from error
    return as_mapping(parse_yaml(text, str(path)), str(path))


class PlainDumper(yaml.SafeDumper):
    """YAML that `PlainLoader` reads: no anchors. A list of numbers is on few lines."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the signature is yaml's
        """Write a value out wherever it stands."""
        return True


def _list(dumper: PlainDumper, data: list[Any]) -> Any:
    is_numbers = all(isinstance(each, int | float) for each in data)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=True if is_numbers else None)


PlainDumper.add_representer(list, _list)


def yaml_text(data: Any, *, leaves_on_a_line: bool = False) -> str:
    """YAML of plain data, keys in their order; `leaves_on_a_line`: mappings and lists that hold no others."""
    flow = None if leaves_on_a_line else False
    text: str = yaml.dump(
        data, Dumper=PlainDumper, sort_keys=False, allow_unicode=True, width=WIDTH, default_flow_style=flow
    )
    return text


def as_mapping(data: Any, where: str) -> dict[str, Any]:
    """`data` if it is a mapping with keys; else InputError."""
    if data is None:
        raise InputError(f"{where}: is empty; expected keys with values")
    if not isinstance(data, dict):
        kind = {"list": "a list", "str": "text"}.get(type(data).__name__, "a single value")
        raise InputError(f"{where}: got {kind}; expected keys with values")
    return data
