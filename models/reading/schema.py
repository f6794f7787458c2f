"""The JSON schema of a scenario file, for editors: completion, units, catalogue names.

`python -m oltpsim.models.reading.schema` writes it to docs/reference/scenario.schema.json.
"""

import json
import re
import typing
from pathlib import Path
from typing import Any

from oltpsim.models.catalogue import CATALOGUED_KEYS, catalogue_places
from oltpsim.models.scenario import ScenarioSpec

VOLUME = {
    "type": "string",
    "pattern": r"\d ?[GT]i?B\b|P\d\d",
    "description": "a network volume with its size, as in 'gp3 500 GiB 3000 IOPS'",
}


def scenario_schema() -> dict[str, Any]:
    """JSON schema (draft 2020-12) of a scenario file before composition.

    A file may leave out what a `base` or a catalogue entry gives, so nothing is required; unknown keys are refused.
    """
    schema = ScenarioSpec.model_json_schema()
    definitions = schema["$defs"]
    definitions["ScenarioSpec"] = {key: schema[key] for key in ("properties", "type")}
    for definition in definitions.values():
        definition.pop("required", None)
        if definition.get("type") == "object":
            definition["additionalProperties"] = False
        for node in definition["properties"].values():
            _admit_any_kind(node)
    for path, kind in CATALOGUED_KEYS.items():
        above, _, key = path.rpartition(".")
        properties = definitions[_owner(above, key)]["properties"]
        names = {"type": "string", **_names(kind), "description": f"a name from the catalogue of {kind}"}
        plain = {k: v for k, v in properties[key].items() if k not in ("default", "description")}
        properties[key] = {"anyOf": [names, *([VOLUME] if kind == "disks" else []), plain]}
        for target in _targets(plain):
            base = {"type": "string", "description": f"a name from the catalogue of {kind}; the other keys change it"}
            definitions[target]["properties"]["base"] = base
    scenario = definitions.pop("ScenarioSpec")
    scenario["properties"]["base"] = {
        "type": "string",
        "description": "another scenario file, which the other keys change",
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "oltpsim scenario",
        **scenario,
        "additionalProperties": False,
        "$defs": definitions,
    }


def _names(kind: str) -> dict[str, Any]:
    """Names that a kind's files have, and how those of its tables begin, which have thousands."""
    places = {**catalogue_places(kind), **(catalogue_places("instances") if kind == "machines" else {})}
    listed = [name for name, place in places.items() if not place.in_table]
    begins = sorted({re.split(r"[\d.-]", name)[0] for name in places.keys() - {*listed}})
    if not begins:
        return {"enum": sorted(listed)}
    return {"anyOf": [{"enum": sorted(listed)}, {"pattern": f"^(?:{'|'.join(begins)})[0-9.-]"}]}


def _owner(key: str, below: str) -> str:
    """The spec that stands at a key of a scenario."""
    return str(_spec_at(key, below).__name__)


def _spec_at(key: str, below: str) -> Any:
    """Of several kinds the one that has the key `below`."""
    above, _, word = key.rpartition(".")
    if not key:
        return ScenarioSpec
    spec = _spec_at(above, word).model_fields[word].annotation
    return next((kind for kind in typing.get_args(spec) if below in kind.model_fields), spec)


def _admit_any_kind(node: dict[str, Any]) -> None:
    """With a `base` the kind may be left out, and then the keys may fit more than one."""
    for part in (node, *node.get("anyOf", ())):
        if "oneOf" in part:
            part["anyOf"] = part.pop("oneOf")
            part.pop("discriminator", None)


def _targets(node: Any) -> list[str]:
    """Names of the definitions that a property refers to."""
    if isinstance(node, dict):
        names = [node["$ref"].rsplit("/", 1)[-1]] if "$ref" in node else []
        return names + [name for value in node.values() for name in _targets(value)]
    if isinstance(node, list):
        return [name for value in node for name in _targets(value)]
    return []


def schema_text() -> str:
    """The schema as it is written to its file."""
    return json.dumps(scenario_schema(), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    Path("docs/reference/scenario.schema.json").write_text(schema_text(), encoding="utf-8")
