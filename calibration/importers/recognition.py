"""Files that no importer knows: their likely form, whether they look like a result, and the way to have them read."""

import csv
import json
import re

from oltpsim.models.input import SourceFile, short_text

READ_FORMATS = (
    "results of HammerDB, sysbench, pgbench, BenchBase, BenchmarkSQL, go-tpc, tpcc-mysql, DBT-2, YCSB and fio, "
    "monitors, database counters"
)
MAPPING_REMEDY = "a table of results is read by --mapping FILE.yaml, which says what its columns are"
RESULT_WORDS = re.compile(
    r"(?<![a-z])(tps|qps|tpmc?|nopm|notpm|iops|throughput|latency|transactions?(?: per second|/s| processed)|"
    r"ops/s(?:ec)?|95th|p95|p99|requests/sec)(?![a-z])",
    re.IGNORECASE,
)
FIGURE = re.compile(r"\d[\d.,]*")
LEAST_RESULT_WORDS = 2
"""Different words of results in a file that looks like one"""


def looks_like(file: SourceFile) -> str:
    """Form of a file in a few words."""
    head = file.head
    if not head.strip():
        return "an empty file"
    if "\x00" in head or "\ufffd" in head[:200]:
        return "a binary file"
    first = head.strip().partition("\n")[0].strip()
    if first.startswith(("{", "[")):
        return f"JSON {_keys(head)}"
    if first.startswith("<"):
        return f"HTML or XML that begins with {short_text(first, 40)!r}"
    columns = next(csv.reader([first.replace("\r", " ")]), [])
    if len(columns) >= 3 and not any(FIGURE.fullmatch(word.strip()) for word in columns):
        return f"a CSV table of the columns {short_text(', '.join(word.strip() for word in columns))}"
    return f"text that begins with {short_text(first)!r}"


def _keys(head: str) -> str:
    try:
        value = json.loads(head)
    except (ValueError, RecursionError):
        value = None
    names = list(value) if isinstance(value, dict) else re.findall(r'"([^"]{1,40})"\s*:', head)[:6]
    return f"with the keys {short_text(', '.join(map(str, names[:6])))}" if names else "without keys"


def looks_like_result(file: SourceFile) -> bool:
    """Whether an unknown file speaks of rates and latencies, with figures."""
    words = {match[1].lower() for match in RESULT_WORDS.finditer(file.head)}
    return len(words) >= LEAST_RESULT_WORDS and FIGURE.search(file.head) is not None
