"""Write docs/reference/scenario.md, every key of a scenario, from their schema, which is made of the specs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docs.build import head, line

REFERENCE = Path(__file__).resolve().parent / "reference"
PAGE, SCHEMA = REFERENCE / "scenario.md", REFERENCE / "scenario.schema.json"
HEAD = """# Keys of a scenario

<!-- Made by `python docs/build_scenario.py` from the specs. Do not edit. -->

A scenario file is YAML: these keys, nested. Keys that aren't here are refused with the nearest name. What a `base` or a
name from the catalogue gives may be left out. Numbers with a unit in their name take text too: `memory_gib: 16 GiB`,
`think_time_s: 250 ms`. On the command line a key is its path: `--set machine.disks.count=4`.
[The same as a JSON schema](scenario.schema.json), for editors.
"""
MOST_NAMES = 12
"""names of a list that stand in a table; longer lists are for `oltpsim catalog list`"""
LIMITS = {
    "minimum": "≥ {}", "ge": "≥ {}", "exclusiveMinimum": "> {}", "gt": "> {}",
    "maximum": "≤ {}", "le": "≤ {}", "exclusiveMaximum": "< {}", "lt": "< {}",
}  # fmt: skip

Json = dict[str, Any]


def parts_of(node: Json) -> list[str]:
    """Names of the specs that may stand at a key, also within a list or another choice."""
    if "$ref" in node:
        return [node["$ref"].rpartition("/")[2]]
    below = [*node.get("anyOf", ()), *([node["items"]] if isinstance(node.get("items"), dict) else [])]
    return [name for each in below for name in parts_of(each)]


def sections(schema: Json) -> dict[str, list[str]]:
    """Paths at which each spec stands, in the order in which a reader meets them."""
    paths: dict[str, list[str]] = {}
    ahead: list[tuple[str, Json]] = [("", schema)]
    while ahead:
        path, spec = ahead.pop(0)
        for key, node in spec["properties"].items():
            below = f"{path}.{key}".lstrip(".")
            for name in parts_of(node):
                if name not in paths:
                    ahead.append((below, schema["$defs"][name]))
                paths.setdefault(name, []).append(below)
    return paths


def allowed(node: Json) -> str:
    """What a key takes, in words."""
    if "const" in node:
        return f"`{node['const']}`"
    if "enum" in node:
        names = node["enum"]
        if len(names) <= MOST_NAMES:
            return ", ".join(f"`{name}`" for name in names)
        return f"{node.get('description', 'a name')}, {len(names)} of them"
    if "$ref" in node:
        return "keys below"
    if "anyOf" in node:
        words = [allowed(each) for each in node["anyOf"] if each.get("type") != "null"]
        if sorted(words) == ["number", "text"]:
            words = ["number, or text with a unit"]
        return with_limits("; or ".join(dict.fromkeys(words)), node)
    if node.get("type") == "array":
        of = node["items"] if isinstance(node.get("items"), dict) else {}
        return f"list of {allowed(of)}" if of else "list"
    words = {"integer": "whole number", "string": "text", "boolean": "true or false"}
    return with_limits(words.get(node.get("type", ""), node.get("type", "any")), node)


def with_limits(words: str, node: Json) -> str:
    """What is allowed with its ends."""
    limits = [text.format(f"{node[key]:,g}") for key, text in LIMITS.items() if key in node]
    return " ".join([words, ", ".join(limits)]) if limits else words


def default(node: Json) -> str:
    """The value of a key that is left out; empty if it must be given."""
    if "default" not in node:
        return ""
    value = node["default"]
    if value is None or value == []:
        return "none"
    return (
        "see below"
        if isinstance(value, dict | list)
        else f"`{str(value).lower() if value is True or value is False else value}`"
    )


def cell(text: str) -> str:
    """Text in a line of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def table(spec: Json) -> str:
    """Keys of one spec."""
    rows = [
        line(f"`{key}`", cell(allowed(node)), cell(default(node)), cell(node.get("description", "")))
        for key, node in spec["properties"].items()
    ]
    return head("key", "takes", "if left out", "meaning") + "".join(rows)


def title(name: str, spec: Json, paths: list[str], alone: bool) -> str:
    """The heading of a spec: its path, and its kind where several may stand there."""
    kind = spec["properties"].get("kind", {}).get("const")
    return f"`{paths[0]}`" + ("" if alone else f", {f'kind {kind}' if kind else name.removesuffix('Spec')}")


def scenario_schema_file() -> Json:
    """The schema, as `make figures` wrote it."""
    schema: Json = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return schema


def page() -> str:
    """The whole page."""
    schema = scenario_schema_file()
    paths = sections(schema)
    firsts = [places[0] for places in paths.values()]
    found = [HEAD, f"## The file\n\n{table(schema)}"]
    for name, places in paths.items():
        spec = schema["$defs"][name]
        about = spec.get("description", "").strip()
        also = f"Also at {', '.join(f'`{place}`' for place in places[1:])}.\n\n" if places[1:] else ""
        heading = title(name, spec, places, alone=firsts.count(places[0]) == 1)
        found.append(f"## {heading}\n\n{about}\n\n{also}{table(spec)}")
    return "\n".join(found)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
