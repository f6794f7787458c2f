"""YAML that the program writes: it reads its own."""

from __future__ import annotations

import pytest
import yaml

from models.input import parse_yaml, yaml_text
from simulator.errors import InputError

SHARED = {"disk": "Größe 5", "rpm": [7200, 10_000]}
DATA = {"b": SHARED, "a": [SHARED, {"sizes": [1.5, 2.0], "names": ["x", "y"]}]}


@pytest.mark.parametrize("leaves_on_a_line", [False, True])
def test_what_is_written_reads_back_in_its_order(leaves_on_a_line: bool) -> None:
    text = yaml_text(DATA, leaves_on_a_line=leaves_on_a_line)
    assert parse_yaml(text, "") == DATA
    assert text.startswith("b:")
    assert "Größe" in text
    assert "rpm: [7200, 10000]" in text


def test_by_the_library_alone_what_is_shared_would_be_refused() -> None:
    with pytest.raises(InputError, match="anchors"):
        parse_yaml(yaml.safe_dump(DATA), "")
