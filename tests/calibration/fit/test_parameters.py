"""Parameters of a fit: what is read, and what is refused with file, key, what came and what to do."""

import math
from pathlib import Path

import pytest

from oltpsim.calibration.fit import (
    Parameter,
    default_parameters,
    parameters_to_fit,
    parse_vary,
)
from oltpsim.models.reading import with_values
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.simulator.errors import InputError
from tests.calibration.synthetic import DURABLE, base

V20Z = load_scenario_file(library_files()["v20z"])


def test_a_log_normal_prior_has_its_ends_where_vary_says() -> None:
    parameter = parse_vary("database.path.row_operation_us=10..160", base())
    assert parameter.value == 40.0
    assert parameter.at(0.0) == 40.0
    assert parameter.place(160.0) == pytest.approx(1.6448536 * math.log(4) / math.log(4))
    assert parameter.place(parameter.at(0.7)) == pytest.approx(0.7)


def test_a_range_from_nothing_has_a_normal_prior() -> None:
    parameter = parse_vary("database.critical_section.share_of_path=0..0.6", base())
    assert parameter.factor is None
    assert parameter.sd == pytest.approx(0.3 / 1.6448536)
    assert parameter.place(parameter.at(-0.4)) == pytest.approx(-0.4)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("database.path.row_operation_us", "expected KEY=LOW..HIGH"),
        ("database.path.row_operation_us=5", "expected KEY=LOW..HIGH"),
        ("database.path.row_operation_us=9..5", "expected KEY=LOW..HIGH"),
        ("database.path.row_operation_us=a..5", "expected KEY=LOW..HIGH"),
        ("database.path.row_operation=1..5", "did you mean 'database.path.row_operation_us'"),
        ("database.pool.buffers=100.2..100.8", "a whole number, so give bounds with two of them"),
        ("database.path=1..5", "is a part, no number"),
    ],
)
def test_a_broken_vary_is_one_sentence(text: str, said: str) -> None:
    with pytest.raises(InputError, match=f"^--vary {text}") as caught:
        parse_vary(text, base())
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_defaults_are_those_that_the_scenario_has_and_uses() -> None:
    def keys(*settings: str) -> set[str]:
        return {each.key for each in default_parameters(base(*settings))}

    assert "machine.disks.disk.read_latency_us" in keys()
    assert "database.log.flush_overhead_us" not in keys()
    assert "database.log.flush_overhead_us" in keys(DURABLE)
    rotating = {each.key: each for each in default_parameters(V20Z)}
    assert "machine.disks.disk.read_latency_us" not in rotating
    assert all(each.source and each.low < each.value < each.high for each in rotating.values())
    assert rotating["machine.disks.disk.seek_track_to_track_ms"].high == pytest.approx(1.5)


def file_of(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "parameters.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_names_what_varies_and_what_is_fixed(tmp_path: Path) -> None:
    path = file_of(
        tmp_path,
        "parameters:\n"
        "  database.path.row_operation_us: {low: 5, high: 90, factor: 2, source: x}\n"
        "  database.path.page_miss_us: {value: 33, low: 5, high: 90, factor: 2, vary: false, source: x}\n",
    )
    varied, fixed = parameters_to_fit([base()], path, [])
    assert varied == (Parameter("database.path.row_operation_us", 40.0, 5.0, 90.0, 2.0, None, "x"),)
    assert fixed == {"database.path.page_miss_us": 33.0}
    varied, fixed = parameters_to_fit([base()], path, ["database.path.page_miss_us=5..40"])
    assert [each.key for each in varied] == ["database.path.row_operation_us", "database.path.page_miss_us"]
    assert not fixed


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("{low: 5, high: 90, source: x}", "needs a prior"),
        ("{low: 5, high: 90, factor: 2, sd: 1, source: x}", "needs a prior"),
        ("{low: 90, high: 5, factor: 2, source: x}", "low 90 must be below high 5"),
        ("{low: 0, high: 90, factor: 2, source: x}", "needs a low above 0"),
        ("{low: 50, high: 90, factor: 2, source: x}", "value 40 is outside of 50 .. 90"),
        ("{low: 5, high: 90, factor: 2}", "source: missing"),
        ("{low: 5, high: 90, factor: 2, source: x, widht: 2}", "widht: unknown key"),
        ("{low: five, high: 90, factor: 2, source: x}", "low: got 'five'; must be a number"),
        ("{low: 5, high: 90, factor: 2, vary: false, source: x}", "no parameter varies"),
    ],
)
def test_a_broken_parameter_file_is_one_sentence(tmp_path: Path, body: str, said: str) -> None:
    path = file_of(tmp_path, f"parameters:\n  database.path.row_operation_us: {body}\n")
    with pytest.raises(InputError) as caught:
        parameters_to_fit([base()], path, [])
    assert str(caught.value).startswith("parameters.yaml: ")
    assert said in str(caught.value)


def test_values_are_checked_as_a_scenario_is() -> None:
    assert with_values(base(), {"database.path.row_operation_us": 7.5}).database.path.row_operation_us == 7.5
    with pytest.raises(InputError, match="row_operation_us"):
        with_values(base(), {"database.path.row_operation_us": -1.0})
