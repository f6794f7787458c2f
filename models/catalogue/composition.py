"""Putting a scenario together: catalogue names, `base` with changes, and overrides become one mapping."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oltpsim.models.catalogue.cloud_names import instance_named, read_volume
from oltpsim.models.catalogue.entries import catalogue_entry, catalogue_names, merged
from oltpsim.models.catalogue.shape_specs import InstanceSpec, VolumeOrder, VolumeSpec
from oltpsim.models.input import (
    did_you_mean,
    key_words,
    parse_yaml,
    read_mapping,
    set_value,
    validated,
    value_at,
    value_text,
    values_along,
)
from oltpsim.simulator.errors import InputError

CATALOGUED_KEYS = {
    "machine": "machines",
    "machine.cpu": "cpus",
    "machine.disks.disk": "disks",
    "machine.log_disk": "disks",
    "operating_system": "operating_systems",
    "database": "databases",
    "workload": "workloads",
    "workload.layout": "layouts",
}
"""Where a catalogue name may stand for a whole group of keys of a scenario."""
FOR_SALE = {
    "instance": "instances",
    "instance.cpu": "cpus",
    "instance.local_disks.disk": "disks",
    "volume": "volumes",
    "chassis": "chassis",
    "prices": "prices",
}
"""As CATALOGUED, in what plans are made of."""
PLACES = CATALOGUED_KEYS | FOR_SALE
MOST_BASES = 8


def expand_names(data: Any, where: str, path: str = "", named: tuple[str, ...] = ()) -> Any:
    """Replace names and bases at and below `path` by what they stand for.

    `named`: names at this path that led here. Raises InputError for unknown names, and for those that name each other
    in a circle.
    """
    kind = PLACES.get(path)
    try:
        if kind and isinstance(data, str):
            named, data = (*named, data), _for_sale(kind, data) or _entry_once(kind, data, named)
        if kind and isinstance(data, dict) and "base" in data:
            changes = {key: value for key, value in data.items() if key != "base"}
            data = merged(expand_names(str(data["base"]), where, path, named), changes)
        if path == "instance.cpu" and isinstance(data, dict) and "relative_speed" in data:
            data = _among_neighbours(data)
        if kind == "machines" and isinstance(data, dict) and "instance" in data:
            data = _rented_machine(data, where)
        if kind == "disks" and isinstance(data, dict) and "volume" in data:
            data = _volume(data, f"{where}: {path}")
    except InputError as error:
        raise InputError(str(error) if str(error).startswith(where) else f"{where}: {path}: {error}") from error
    if not isinstance(data, dict):
        return data
    return {key: expand_names(value, where, f"{path}.{key}" if path else str(key)) for key, value in data.items()}


def _for_sale(kind: str, name: str) -> dict[str, Any] | None:
    """A cloud machine by its name, or a network volume by words such as 'gp3 500 GiB'; None if it is neither."""
    if name in catalogue_names(kind) or kind not in ("machines", "disks"):
        return None
    try:
        if kind == "machines":
            instance = instance_named(name)
            return None if instance is None else {"instance": instance}
        volume = read_volume(name)
    except ValueError as error:
        raise InputError(f"{name}: {error}") from error
    if volume is None:
        return None
    if volume.size_gib is None or volume.remainder:
        raise InputError(f"{name}: expected a volume with its size, such as '{volume.entry} 500 GiB'")
    return volume.order(volume.size_gib)


def _entry_once(kind: str, name: str, named: tuple[str, ...]) -> dict[str, Any]:
    if name in named:
        raise InputError(f"base: entries of {kind} name each other in a circle: {' -> '.join((*named, name))}")
    return catalogue_entry(kind, name)


def _among_neighbours(cpu: dict[str, Any]) -> dict[str, Any]:
    """A cloud machine's processors, whose clock is always that of all cores: neighbours are busy (assumption)."""
    speed = float(cpu["relative_speed"]) * float(cpu.get("all_core_clock_fraction", 1.0))
    return cpu | {"relative_speed": float(f"{speed:.4g}"), "all_core_clock_fraction": 1.0}


def _rented_machine(data: dict[str, Any], where: str) -> dict[str, Any]:
    """A machine of which `instance` names a cloud machine: its keys, the caps of all its volumes, and changes."""
    name = str(data["instance"])
    try:
        name = instance_named(name) or name
    except ValueError as error:
        raise InputError(f"{where}: machine.instance: {name}: {error}") from error
    entry = expand_names(catalogue_entry("instances", name), where, "instance")
    instance = validated(InstanceSpec, entry, f"instances/{name}")
    keys = {"name": name, "memory_gib": instance.memory_gib, "hardware_share_lost": instance.hardware_share_lost}
    keys |= {"cpu": entry["cpu"], "volume_limits": instance.volume_limits(), "source": instance.source}
    if "local_disks" in entry and "disks" not in data:
        keys["disks"] = entry["local_disks"]
        if "log_disk" not in data:
            del keys["volume_limits"]  # of network volumes, which it has none of then
    machine: dict[str, Any] = merged(keys, {key: value for key, value in data.items() if key != "instance"})
    return machine


def _volume(data: dict[str, Any], where: str) -> dict[str, Any]:
    """A disk of which `volume` names a network volume: what one of that size does, and changes of the disk."""
    ordered = {key: value for key, value in data.items() if key in VolumeOrder.model_fields}
    order = validated(VolumeOrder, ordered, where)
    volume = validated(VolumeSpec, catalogue_entry("volumes", order.volume), f"volumes/{order.volume}")
    keys = volume.disk(order.size_gib, order.requests_per_s, order.mib_per_s)
    disk: dict[str, Any] = merged(keys, {key: value for key, value in data.items() if key not in ordered})
    return disk


def read_with_base(
    path: Path, library: Mapping[str, Path] | None = None, seen: tuple[Path, ...] = ()
) -> dict[str, Any]:
    """A scenario file over the scenario that its `base` names, whose measured figure and notes stay its own.

    `base` is a file in the same folder, or else a name in `library`. Raises InputError for circles.
    """
    library = library or {}
    if path.resolve() in seen or len(seen) > MOST_BASES:
        circle = " -> ".join(p.name for p in (*seen, path))
        raise InputError(f"{path.name}: base: the files name each other in a circle or a long chain: {circle}")
    data = read_mapping(path)
    if "base" not in data:
        return data
    name = data.pop("base")
    if not isinstance(name, str) or not name:
        raise InputError(
            f"{path.name}: base: got {value_text(name)}; expected the name of a scenario file in the same folder"
        )
    below = path.parent / (name if name.endswith(".yaml") else f"{name}.yaml")
    if not below.exists():
        below = library.get(name.removesuffix(".yaml"), below)
    if not below.exists():
        names = sorted({file.stem for file in path.parent.glob("*.yaml") if file != path} | set(library))
        raise InputError(f"{path.name}: base: no such file: {below}{did_you_mean(name.removesuffix('.yaml'), names)}")
    base = read_with_base(below, library, (*seen, path.resolve()))
    for own in ("measured", "notes"):
        base.pop(own, None)
    both = {key: expand_names(value, str(below.name), key) for key, value in base.items()}
    return {**both, **{key: _over(both.get(key), value, path.name, key) for key, value in data.items()}}


def _over(base: Any, changes: Any, where: str, path: str) -> Any:
    if isinstance(changes, str) or (isinstance(changes, dict) and "base" in changes):
        return expand_names(changes, where, path)
    return merged(base, changes)


def with_setting(data: dict[str, Any], setting: str) -> dict[str, Any]:
    """`data` with one 'key.path=value' set; the value is YAML. Raises InputError for what can't be set."""
    keys, equals, text = setting.partition("=")
    if not equals or not keys.strip():
        raise InputError(f"--set {setting}: expected key.path=value, for example database.pool.buffers=150000")
    key = keys.strip()
    if key == "machine.instance":  # which is another machine, whose disks are its own
        key, text = "machine", text.strip()
    words = key_words(key)
    if not all(key.split(".")):
        raise InputError(f"--set {setting}: a key is empty; expected key.path=value")
    *above, last = words
    value = expand_names(parse_yaml(text, f"--set {setting}"), f"--set {setting}", key)
    if value == {}:
        raise InputError(f"--set {setting}: an empty group of keys changes nothing; null takes {last} out")
    holders = list(values_along(data, key))
    for at, word in enumerate(words[1:]):
        if word.startswith("["):
            if at + 1 >= len(holders):
                members = len(holders[at]) if at < len(holders) and isinstance(holders[at], list) else 0
                known = f"it has {members}, the first is [0]" if members else "there is no list with members"
                raise InputError(f"--set {setting}: no member {word}; {known}")
        elif at < len(holders) and not isinstance(holders[at], dict):
            below = value_text(holders[at])
            raise InputError(f"--set {setting}: '{word}' is below {below}, which has no keys")
    data = copy.deepcopy(data)
    if key == "machine" and isinstance(value, dict) and {"name", "cpu"} <= value.keys():
        _refuse_without_disks(value, setting)
        return data | {"machine": value}
    if last == "kind" and value_at(data, key, value) != value:
        set_value(data, above, {"kind": value})  # the keys of another kind would be unknown to this one
    else:
        names_a_disk = CATALOGUED_KEYS.get(key) == "disks" and not text.lstrip().startswith("{")
        set_value(data, key, value if names_a_disk else merged(value_at(data, key), value))
    return data


def _refuse_without_disks(machine: dict[str, Any], setting: str) -> None:
    """Raises InputError for another machine without disks: those of the one before aren't its."""
    if "disks" not in machine:
        name = machine.get("name", "the machine")
        raise InputError(
            f"--set {setting}: {name} has no disks of its own, and those of the machine before aren't its; say which: "
            f"--set 'machine={{instance: {name}, disks: {{disk: gp3 500 GiB, count: 1}}}}'"
        )
