"""Results that are written to disk and read back are the same; damaged ones are refused by the name of their key."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import System
from oltpsim.simulator.reference import simulate
from oltpsim.simulator.results import read_result, result_json

ModelOf = Callable[..., System]


def test_reading_a_result_loads_no_engine() -> None:
    show = "print(sorted({'scipy', 'simpy'} & set(sys.modules)))"
    code = f"import sys\nimport oltpsim.simulator.results\n{show}\nimport oltpsim.simulator.reference\n{show}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "['scipy', 'simpy']"]


def test_a_result_read_back_is_the_same(busy: ModelOf) -> None:
    result = simulate(busy(duration_s=2), 1)
    text = result_json(result)
    assert read_result(text) == result
    assert result_json(read_result(text)) == text
    assert read_result(text.replace('"seed": 1', '"seed": 2')) != result


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda d: d.pop("seed"), "seed"),
        (lambda d: d.update(colour=1), "colour"),
        (lambda d: d.update(seed="1"), r"\.seed"),
        (lambda d: d.update(seed=True), r"\.seed"),
        (lambda d: d["classes"][0].update(completed=1.5), r"\.classes\[0\]\.completed"),
        (lambda d: d["series"]["values"].update(x=["a"]), r"\.series\.values\.x\[0\]"),
        (lambda d: d.update(cpu=[]), r"\.cpu"),
        (lambda d: d.update(format="oltpsim-result-0"), "oltpsim-result-0"),
    ],
)
def test_a_damaged_result_is_refused_by_the_name_of_its_key(
    busy: ModelOf, change: Callable[[dict[str, Any]], Any], named: str
) -> None:
    data = json.loads(result_json(simulate(busy(duration_s=1), 1)))
    change(data)
    with pytest.raises(InputError, match=f"^a.json.*{named}"):
        read_result(json.dumps(data), "a.json")


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "{}"])
def test_text_that_is_no_result_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"^a\.json: not "):
        read_result(text, "a.json")
