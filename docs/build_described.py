"""Write the table of docs/validation.md: machines described by a line, against results that others have published.

docs/described.yaml has the results. Each line is answered as `oltpsim quick` does, by the kernel.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from docs.build import head, line, output_of, replaced
from oltpsim.models.input import as_mapping, parse_yaml

DOCS = Path(__file__).resolve().parent
PAGE, RESULTS = DOCS / "validation.md", DOCS / "described.yaml"
BEGIN = "<!-- begin of the described machines: python docs/build_described.py -->\n"
END = "<!-- end of the described machines -->\n"
BARE = "8 cores, 32 GB, SSD"
"""what somebody says who knows no more"""


class Answer(NamedTuple):
    """New orders per minute, and the interval in which a measurement would fall."""

    rate: float
    low: float
    high: float

    @property
    def interval(self) -> str:
        """In a cell."""
        return f"{self.low:,.0f} .. {self.high:,.0f}"

    def holds(self, measured: list[int]) -> str:
        """Whether all that was measured is inside."""
        return "yes" if self.low <= min(measured) and max(measured) <= self.high else "no"


def answer(words: str) -> Answer:
    """Of a described machine."""
    found: dict[str, Any] = json.loads(output_of(f"oltpsim quick '{words}' --quiet --output json"))
    ends = found["measurement"]
    return Answer(found["rate_per_min"]["mean"], ends["low_per_min"], ends["high_per_min"])


def row(result: dict[str, Any], bare: Answer) -> str:
    """A result beside what its line and the bare one say."""
    measured = result["new_orders_per_min"]
    said = answer(result["line"])
    off = said.rate / (sum(measured) / len(measured)) - 1.0
    published = " .. ".join(f"{each:,}" for each in measured)
    return line(
        result["machine"], f"`{result['line']}`", published, f"{said.rate:,.0f}", f"{off:+.0%}", said.interval,
        said.holds(measured), bare.holds(measured),
    )  # fmt: skip


def main() -> None:
    """Answer every line and write the table with its sources."""
    sources = as_mapping(parse_yaml(RESULTS.read_text(encoding="utf-8"), RESULTS.name), RESULTS.name)["sources"]
    bare = answer(BARE)
    text = f'`oltpsim quick "{BARE}"` says {bare.rate:,.0f} [{bare.interval}], its clients and warehouses assumed.\n\n'
    text += head(
        "machine",
        "what is known of it",
        "published",
        "kernel",
        "off",
        "90 % interval",
        "inside",
        "inside the bare line's",
    )
    text += "".join(row(result, bare) for source in sources for result in source["results"]) + "\n"
    text += "".join(f"- {each['source']}{'; ' + each['of'] if 'of' in each else ''}.\n" for each in sources)
    PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), BEGIN, END, text), encoding="utf-8")


if __name__ == "__main__":
    main()
