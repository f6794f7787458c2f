"""Published results of described machines: the page has all of docs/described.yaml, and each line is understood."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from oltpsim.models.input import parse_yaml
from oltpsim.models.reading import read_description
from oltpsim.simulator.errors import InputError

DOCS = Path(__file__).resolve().parents[1] / "docs"
SOURCES = parse_yaml((DOCS / "described.yaml").read_text(encoding="utf-8"), "described.yaml")["sources"]
RESULTS = [result for source in SOURCES for result in source["results"]]


@pytest.mark.parametrize("result", RESULTS, ids=[f"{place}" for place in range(len(RESULTS))])
def test_each_line_is_understood_and_stands_on_the_page_with_its_result(result: dict[str, Any]) -> None:
    described = read_description(result["line"])
    assert described.scenario.workload.loaded in {100, 200, 320, 1000}
    published = " .. ".join(f"{each:,}" for each in result["new_orders_per_min"])
    row = f"| {result['machine']} | `{result['line']}` | {published} |"
    assert row in (DOCS / "validation.md").read_text(encoding="utf-8"), "run docs/build_described.py"


def test_a_line_with_a_misspelt_driver_is_not() -> None:
    line = next(result["line"] for result in RESULTS if "HammerDB" in result["line"])
    with pytest.raises(InputError, match="'HamerDB': not understood"):
        read_description(line.replace("HammerDB", "HamerDB"))


def test_each_source_stands_on_the_page() -> None:
    page = (DOCS / "validation.md").read_text(encoding="utf-8")
    assert all(f"- {source['source']}" in page for source in SOURCES)
