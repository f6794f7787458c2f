"""Karpenter's map of on-demand prices, as its Go source or as JSON: US dollars for an hour of an instance type.

Source of the form: github.com/aws/karpenter-provider-aws, pkg/providers/pricing/zz_generated.pricing_aws*.go.
"""

import re
from collections.abc import Mapping
from typing import Any

from oltpsim.models.catalogue.importers.entries import (
    DATE,
    MOST_USD_AN_HOUR,
    ImportedEntries,
    ListFacts,
    date_of,
    hourly,
    region_of,
)
from oltpsim.models.input import SourceFile, short_text

NAME = "karpenter"
GO_MAP = re.compile(r"\bInitialOnDemandPrices\w*\s*=\s*map\[string\]map\[string\]float64\s*\{")
JSON_MAP = re.compile(r'"prices"\s*:\s*\{|"[a-z]{2}(?:-[a-z]+)+-\d"\s*:\s*\{\s*"[a-z0-9-]+\.[a-z0-9-]+"\s*:\s*[\d"]')
REGION_BLOCK = re.compile(r'"([a-z0-9-]{3,40})":\s*\{([^{}]*)\}\s*,?')
PRICE = re.compile(r'"([a-z0-9-]{1,30}\.[a-z0-9-]{1,30})":\s*([0-9.eE+-]{1,30})\s*(?:,|$)')
COMMENT = re.compile(r"//[^\n]*")
INSTANCE = re.compile(r"[a-z0-9-]+\.[a-z0-9-]+")
SAID_REGION = re.compile(r"\b[a-z]{2}(?:-[a-z]+)+-\d\b")


def detect(source: SourceFile) -> bool:
    """Whether a file looks like the map."""
    head = source.head
    return bool(GO_MAP.search(head)) or (head.lstrip().startswith("{") and bool(JSON_MAP.search(head)))


def read(source: SourceFile, wanted: ListFacts) -> ImportedEntries:
    """One region's prices. Raises InputError for several regions without --region, and for what is no price."""
    day_text: str | None = None
    if GO_MAP.search(source.text):
        regions: Mapping[str, Any] = _go_maps(source)
        date = re.search(r"generated at\s+(\d{4}-\d{2}-\d{2})", source.text)
        day_text = date[1] if date else None
    else:
        data = source.mapping(source.data_once, "the file")
        regions = data
        if "prices" in data:
            words = str(data.get("source", ""))
            found_region = SAID_REGION.search(words)
            name = wanted.region or (found_region[0] if found_region else None)
            regions = {} if name is None else {name: data["prices"]}
            date = DATE.search(words)
            day_text = date[0] if date else None
    region = region_of(source, wanted, sorted(regions))
    rows = []
    imported = ImportedEntries(NAME, source, date_of(source, wanted, day_text))
    for name, amount in source.mapping(regions[region], region).items():
        if not INSTANCE.fullmatch(name):
            source.refuse(f"{region}: {short_text(name)}", "a name without a dot", "an instance type")
        number = source.number(amount, f"{region}: {name}")
        if number == 0:
            imported.leave(name, "price 0: not for sale")
            continue
        rows.append(hourly(name, source.positive(amount, f"{region}: {name}", MOST_USD_AN_HOUR)))
    imported.add_list(
        f"karpenter-{region}",
        f"AWS, {region}, on demand",
        rows,
        currency="CNY" if region.startswith("cn-") else "USD",
        term="on demand",
        region=region,
        source=f"imported from {source.name}: Karpenter's map of on-demand prices of {imported.day}",
    )
    return imported


def _go_maps(source: SourceFile) -> dict[str, dict[str, str]]:
    """The maps of a Go source by region, whose every word is accounted for. Raises InputError for what is left."""
    start = GO_MAP.search(source.text)
    assert start is not None
    body = COMMENT.sub("", source.text[start.end() :])
    imported: dict[str, dict[str, str]] = {}
    end = 0
    while block := REGION_BLOCK.match(body, _blank(body, end)):
        region, inside, end = block[1], block[2], block.end()
        prices = PRICE.findall(inside.rstrip())
        remainder = PRICE.sub("", inside.rstrip()).strip()
        if remainder:
            source.refuse(
                region, repr(short_text(remainder)), 'pairs such as "m7i.large": 0.1008', "give Karpenter's own file"
            )
        if region in imported or len(dict(prices)) != len(prices):
            source.refuse(
                region, "a name twice", "each region and each instance type once", "give Karpenter's own file"
            )
        imported[region] = dict(prices)
    if body[_blank(body, end) :][:1] != "}":
        remedy = "the file is cut off or changed: give Karpenter's own"
        source.refuse(
            "the map", repr(short_text(body[end:].strip()[:60])), "a region's prices or the map's end", remedy
        )
    return imported


def _blank(text: str, start: int) -> int:
    """Where the next word begins."""
    while start < len(text) and text[start].isspace():
        start += 1
    return start
