"""Scenario files that somebody got wrong: one line for each problem, with file, key, what came and what is allowed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.simulator.errors import InputError
from tests.simulator.tpcc_systems import TINY

Change = Callable[..., dict[str, Any]]
Write = Callable[..., str]
Refused = Callable[..., list[str]]
Accepted = Callable[..., None]

WRONG_VALUES: list[tuple[str, Any, str]] = [
    ("machine.memory_gib", -2, "got -2; must be greater than 0"),
    ("machine.memory_gib", 0, "got 0; must be greater than 0"),
    ("machine.memory_gib", "0 GiB", "got '0 GiB'; must be greater than 0"),
    ("machine.memory_gib", True, "got true; must be a number or a string such as '8 GiB', not true or false"),
    ("machine.memory_gib", "lots", "got 'lots'; is not a number with a unit; write for example '8 GiB'"),
    ("machine.memory_gib", "2", "got '2'; text needs a unit: '2 GiB'"),
    ("machine.memory_gib", "2,5 GiB", "decimal comma: write a decimal point"),
    ("machine.memory_gib", "2 gib", "unknown unit 'gib' (did you mean 'GiB'?)"),
    ("machine.memory_gib", "2 Gb", "unknown unit 'Gb' (did you mean 'GB'?)"),
    ("machine.memory_gib", None, "got nothing; must be a number"),
    ("machine.memory_gib", [2], "got [2]; must be a number"),
    ("machine.memory_gib", 10**400, "must be a finite number"),
    ("machine.memory_gib", 1e15, "is the unit right?"),
    ("machine.disks.count", 0, "got 0; must be greater than or equal to 1"),
    ("machine.disks.count", 1.5, "got 1.5; must be a whole number"),
    ("machine.disks.count", "two", "got 'two'; must be a whole number"),
    ("machine.disks.count", True, "got true; must be a number, not true or false"),
    ("machine.cpu.relative_speed", False, "got false; must be a number, not true or false"),
    ("machine.cpu.relative_speed", 0, "got 0; must be greater than or equal to 0.01"),
    ("machine.cpu", 3, "got 3; expected keys with values"),
    ("machine.cpu", None, "got nothing; expected keys with values"),
    ("machine.name", 5, "got 5; must be text"),
    ("machine.name", "", "got ''; must not be empty"),
    ("machine.name", "two\nlines", "got 'two\\nlines'; must be one line"),
    ("machine.name", "red \x1b[31m", "must be printable text, without control characters"),
    ("machine.name", "x" * 201, "must have at most 200 characters"),
    ("machine.name", "\ud800", "must be printable text"),
    ("machine.source", "", "got ''; must not be empty"),
    ("notes", ["fine", "\x07"], "notes.1: got '\\x07'; must be printable text, without control characters"),
    ("machine.hardware_share_lost", -0.5, "must be greater than or equal to 0"),
    ("machine.hardware_share_lost", 10, "10 looks like a percentage: write '10 %' or 0.1"),
    ("machine.disks.disk.kind", "rotatin", "got 'rotatin' (did you mean 'rotating'?); allowed: rotating, flash"),
    ("machine.disks.disk.seek_average_ms", 0.1, "must lie between track to track, 0.5, and full stroke, 10"),
    ("machine.disks.disk.overhead_ms", "1 h", "must be at most 10000 ms; is the unit right?"),
    ("machine.network", {"clients_on_server": 5}, "machine.network.clients_on_server: got 5; must be true or false"),
    ("workload.arrivals.think_time_s", "8 GiB", "'GiB' is a unit of memory, expected time in one of ns, us, ms, s"),
    ("workload.arrivals.think_time_s", "12 furlongs", "unknown unit 'furlongs'; known for time: ns, us, ms, s, min"),
    ("workload.arrivals.think_time_s", "5", "text needs a unit: '5 s'"),
    ("workload.arrivals.think_time_s", 21600, "got 6 h; more than 1 h looks like a wrong unit"),
    ("workload.arrivals.kind", "opne", "got 'opne' (did you mean 'open'?); allowed: closed, open"),
    ("workload.mix.new_order", 0.5, "workload.mix: the shares sum to 1.05; they must sum to 1"),
    ("workload.mix.new_order", -0.45, "got -0.45; must be greater than or equal to 0"),
    ("workload.mix.new_orders", 0.45, "unknown key (did you mean 'new_order'"),
    ("workload.active_warehouses", 2, "got 2; at most the 1 loaded warehouses"),
    ("workload.warehouses", 100_000, "100,000 warehouses are"),
    ("database.pool.buffers", 300_000, "take 2.57 GiB; 0.842 of 1 GiB are free and swap has 1: at most 214630 buffers"),
    ("database.pool.replacement", "lur", "got 'lur'; must be 'lru', 'clock' or 'midpoint'"),
    ("database.page_kib", 7, "got 7; allowed: 2, 4, 8, 16, 32, 64"),
    ("database.page_kib", 4, "workload.layout.page_kib: got 8; the database's pages are of 4 KiB (database.page_kib)"),
    ("workload.layout.page_kib", 16, "got 16; the database's pages are of 8 KiB (database.page_kib): give a layout"),
    ("database.writer.dirty_low_fraction", 0.9, "got 0.9; at most dirty_high_fraction, 0.5"),
    ("database.checkpoint.interval_s", "20 minutes", "unknown unit 'minutes' (did you mean 'min'?)"),
    ("interval.duration_s", 1e-3, "got 0.001 s; at least 1 s"),
    ("interval.start", "hot", "got 'hot'; must be 'cold', 'after_load', 'after_prewarm' or 'warm'"),
    ("interval.prewarm", {"tables": ["stock"]}, "with interval.start: warm, which reads no files; set interval"),
    ("interval.lead_in", {}, "give the length of the lead-in, either transactions or duration_s"),
    ("interval.lead_in", {"transactions": 5, "duration_s": 5}, "either transactions or duration_s"),
    ("interval.lead_in", {"transactions": 5, "speed": "clients"}, "at the clients' speed give duration_s"),
    ("measured", {"new_orders_per_minute": 5, "role": "fitted"}, "measured.source: missing; add 'source: ...'"),
    ("notes", "one", "got 'one'; must be a list"),
]


@pytest.mark.parametrize(("key", "value", "sentence"), WRONG_VALUES)
def test_a_wrong_value_is_one_line(
    key: str, value: Any, sentence: str, changed: Change, scenario_file: Write, refused: Refused
) -> None:
    (line,) = refused("run", scenario_file(changed(key, value)))
    assert line.startswith("error: scenario.yaml: ")
    assert key.rpartition(".")[0] in line
    assert sentence in line


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("machine.memory_gib", "2 GiB"),
        ("machine.memory_gib", "2.5 GB"),
        ("machine.disks.count", 2),
        ("machine.cpu", "opteron-244"),
        ("machine.hardware_share_lost", "10 %"),
        ("machine.disks.disk", "nvme"),
        ("machine.network", {"clients_on_server": False, "round_trip_us": 200}),
        ("workload.arrivals.think_time_s", "21.6 s"),
        ("workload.arrivals", {"kind": "open", "transactions_per_s": "50 /min", "connections": 10}),
        ("workload.warehouses", 10),
        ("database.pool.buffers", 50_000),
        ("database.checkpoint.interval_s", "20 min"),
        ("interval.start", "cold"),
        ("interval.start", "after_prewarm"),
        ("interval.lead_in", {"transactions": 5}),
        ("interval.lead_in", {"duration_s": "1 s", "speed": "clients"}),
        ("measured", {"new_orders_per_minute": 5, "role": "fitted", "source": "assumption: for tests"}),
        ("notes", ["one"]),
    ],
)
def test_its_well_formed_twin_is_accepted(
    key: str, value: Any, changed: Change, scenario_file: Write, accepted: Accepted
) -> None:
    accepted("run", scenario_file(changed(key, value)), "--quiet")


@pytest.mark.parametrize("number", [".nan", ".inf", "-.inf", "1e999", "nan", "NaN", "inf", "0x10", "1_0", "20:00"])
def test_what_only_looks_like_a_number_is_refused(
    number: str, refused: Refused, tiny_text: str, scenario_file: Write
) -> None:
    (line,) = refused("run", scenario_file(tiny_text.replace("memory_gib: 1\n", f"memory_gib: {number}\n")))
    assert "scenario.yaml: machine.memory_gib: got" in line
    assert "number" in line or "unknown unit" in line


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        ("machin", "machine"),
        ("machine.memory_gb", "memory_gib"),
        ("machine.cpu.coers", "cores"),
        ("machine.disks.coutn", "count"),
        ("machine.disks.disk.rmp", "rpm"),
        ("operating_system.page_cache.flor_fraction", "floor_fraction"),
        ("operating_system.cpu.read_ms", "read_us"),
        ("database.pool.bufers", "buffers"),
        ("database.critical_section.share_of_paths", "share_of_path"),
        ("workload.warehouse", "warehouses"),
        ("workload.layout.stock_rows", "stock_rows_per_page"),
        ("workload.arrivals.client", "clients"),
        ("interval.warmup_s", "warm_up_s"),
    ],
)
def test_an_unknown_key_gets_the_nearest_name(
    key: str, nearest: str, changed: Change, scenario_file: Write, refused: Refused
) -> None:
    (line,) = refused("run", scenario_file(changed(key, 1)))
    assert f"scenario.yaml: {key}: unknown key (did you mean '{nearest}'" in line
    assert "; allowed: " in line


def test_another_page_size_comes_with_its_layout(changed: Change, scenario_file: Write, accepted: Accepted) -> None:
    keys = changed("database.page_kib", 4)
    keys["workload"]["layout"] |= {"page_kib": "4 KiB", "stock_rows_per_page": 12}
    accepted("run", scenario_file(keys), "--quiet")


def test_every_problem_has_a_line_of_its_own(changed: Change, scenario_file: Write, refused: Refused) -> None:
    keys = changed("machine.memory_gib", -1)
    keys["machine"]["cpu"]["coers"] = 2
    del keys["workload"]["warehouses"]
    lines = refused("run", scenario_file(keys))
    assert len(lines) == 3
    assert [word for word in ("memory_gib", "coers", "warehouses") if sum(word in line for line in lines) == 1]


def test_a_machine_without_memory_for_its_own_programs_gets_a_reason(
    changed: Change, scenario_file: Write, refused: Refused
) -> None:
    (line,) = refused("run", scenario_file(changed("machine.memory_gib", 0.1)))
    assert "machine.memory_gib: 0.1 GiB; system, server, connections and clients alone take 0.158 GiB" in line


LAYERS = zip("abcdefgh", "bcdefghi", strict=True)
BOMB = "a: &a [x, x, x]\n" + "".join(f"{b}: &{b} [*{a}, *{a}, *{a}, *{a}, *{a}]\n" for a, b in LAYERS)

UNREADABLE = [
    ("machine:\n\tname: x\n", "line 2, column 1", "indent with spaces, not tabs"),
    ("machine: {cpu: [1, 2\n", "line 2", "expected ',' or ']'"),
    ("machine: 'x\n", "line 2", "unexpected end of stream"),
    (BOMB, "line 1, column 4", "anchors and aliases (& and *) are not allowed"),
    ("a: *b\n", "line 1, column 4", "anchors and aliases (& and *) are not allowed"),
    ("a: !!python/object/apply:os.system ['true']\n", "line 1, column 4", "tag tag:yaml.org,2002:python/object/app"),
    ("a: !!binary aGVsbG8=\n", "line 1, column 4", "is not allowed; write plain values"),
    ("machine: x\nmachine: y\n", "line 2, column 1", "key 'machine' stands twice; keep one"),
    ("1: x\n", "line 1, column 1", "keys must be words"),
    ("? [a]\n: x\n", "line 1, column 3", "keys must be words"),
    ("a: " + "[" * 100_000, "line 1", "nested deeper than 30"),
    ("a: 1\n--- \nb: 2\n", "line 2", "expected a single document in the stream, but found another document"),
    ("name: a\x00b\n", "", "special characters are not allowed"),
    ("a: " + "9" * 5000, "", "unreadable YAML"),
]


@pytest.mark.parametrize(("text", "place", "sentence"), UNREADABLE)
def test_unreadable_yaml_names_the_line(
    text: str, place: str, sentence: str, scenario_file: Write, refused: Refused
) -> None:
    (line,) = refused("run", scenario_file(text))
    assert "scenario.yaml: unreadable YAML" in line
    assert place in line
    assert sentence in line


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty; expected keys with values"),
        (b"# nothing but a comment\n", "is empty; expected keys with values"),
        (b"- machine\n- workload\n", "got a list; expected keys with values"),
        (b"machine\n", "got text; expected keys with values"),
        (b"42\n", "got a single value; expected keys with values"),
        (b"\x7fELF\x02\x01\x01\x00\xff\xfe", "is not UTF-8 text (byte 8)"),
        ("name: Größe\n".encode("latin-1"), "is not UTF-8 text (byte 8)"),
        ("name: x\n".encode("utf-16"), "is not UTF-8 text (byte 0)"),
        (b"# " + b"x" * 200_000, "got 200002 bytes; expected at most 131072"),
    ],
)
def test_a_file_of_another_kind_is_refused(
    content: bytes, sentence: str, scenario_file: Write, refused: Refused
) -> None:
    (line,) = refused("run", scenario_file(content))
    assert "scenario.yaml: " in line
    assert sentence in line


def test_text_with_umlauts_and_windows_line_ends_is_accepted(
    tiny_text: str, scenario_file: Write, accepted: Accepted
) -> None:
    text = "\ufeff" + tiny_text.replace("name: tiny", "name: Größe").replace("\n", "\r\n")
    accepted("run", scenario_file(text.encode()), "--quiet")


def test_places_without_a_scenario_are_refused(tmp_path: Path, refused: Refused, scenario_file: Write) -> None:
    (line,) = refused("run", str(tmp_path / "v20.yaml"))
    assert "v20.yaml: no such file or scenario of the library (did you mean 'v20z'" in line
    (line,) = refused("run", str(tmp_path))
    assert f"{tmp_path}: got no file of a known format" in line
    (line,) = refused("run", "/dev/null")
    assert "/dev/null: is no plain file; give a scenario file" in line
    (line,) = refused("run", "")
    assert "give a scenario file" in line


def test_a_file_that_may_not_be_read_is_refused(tiny_text: str, scenario_file: Write, refused: Refused) -> None:
    path = Path(scenario_file(tiny_text))
    if os.geteuid() == 0:
        pytest.skip("root may read every file")
    path.chmod(0)
    (line,) = refused("run", str(path))
    assert "can't be read: Permission denied; check its permissions" in line


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="only Linux has a file that even root can't read")
def test_a_file_that_cannot_be_read_is_refused(refused: Refused) -> None:
    (line,) = refused("run", "/proc/self/mem")
    assert "/proc/self/mem: can't be read: " in line


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["run", "v20y"], "(did you mean 'v20z'"),
        (["run", "v20z", "--seed", "-1"], "--seed: got '-1'; must be greater than or equal to 0"),
        (["schem"], "no such command 'schem'"),
        (["catalog", "show", "disks", "nvm"], "(did you mean 'nvme'?)"),
    ],
)
def test_the_installed_program_says_the_same(words: list[str], sentence: str) -> None:
    program = str(Path(sys.executable).with_name("oltpsim"))
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert sentence in done.stderr


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            ["interval.prewarm={}"],
            "--set interval.prewarm={}: an empty group of keys changes nothing; null takes prewarm",
        ),
        (["interval.prewarm={into: page_cache}"], "interval.prewarm: with interval.start: "),
    ],
)
def test_a_setting_without_effect_is_refused(settings: list[str], words: str) -> None:
    """A prewarm of nothing was taken in silence."""
    with pytest.raises(InputError, match=re.escape(words)):
        load_scenario(TINY, settings)


def test_its_twins_with_an_effect_are_taken() -> None:
    apart = load_scenario(TINY, ["machine.network.clients_on_server=false", "machine.network.round_trip_us=200"])
    assert apart.machine.network.round_trip_us == 200
    assert load_scenario(TINY, ["interval.prewarm=null"]).interval.prewarm is None
