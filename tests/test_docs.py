"""The pages and pictures of docs/ are what their scripts make of today's model, as far as that needs no long run."""

import ast
import importlib
import re
import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build, memory_plan, sample_of
from oltpsim.scenarios.library import scenario_path
from oltpsim.scenarios.questions.sweep import sweep_from_json
from oltpsim.simulator.form import System
from tests.simulator.memory import kernel_bytes

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
STALE = "made by another model: run `make figures`"


def script(name: str) -> dict[str, Any]:
    """What a script of docs/ defines."""
    return runpy.run_path(str(DOCS / f"{name}.py"))


PICTURES = {picture.name: picture for picture in script("build_pictures")["PICTURES"]}


def digest(scenario: ScenarioSpec) -> str:
    return build(scenario).digest()


def cells(text: str) -> list[list[str]]:
    """The rows of a Markdown table."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    return rows[2:]


def block(page: str, begin: str, end: str) -> str:
    """What stands between two marks, each of which stands once."""
    text = (DOCS / page).read_text(encoding="utf-8")
    assert (text.count(begin), text.count(end)) == (1, 1)
    return text.split(begin)[1].split(end)[0]


PATH = re.compile(r"(?:\.ci|benchmarks|calibration|docs|models|scenarios|simulator|tests)/[\w./-]*|\w+\.(?:md|toml)")
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(page for folder in (".", "model", "evidence", "how-to") for page in sorted(DOCS.glob(f"{folder}/*.md"))),
]


def paths_in(text: str) -> set[str]:
    """Files and folders that a page names in backticks, or as what a link leads to."""
    named = re.findall(r"`([^`\n]+)`", text) + re.findall(r"\]\(([^)#]+)", text)
    return {name for name in named if PATH.fullmatch(name)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_names_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = paths_in(text) - set(re.findall(r"^```\w+ file=(\S+)$", text, re.MULTILINE))  # files that a reader adds
    missing = [name for name in named if not any((at / name).exists() for at in (ROOT, page.parent))]
    assert not missing, f"{page.name} names {missing}"


def test_the_pages_for_contributors_name_their_rooms() -> None:
    assert len(paths_in((DOCS / "house.md").read_text(encoding="utf-8"))) > 30


def missing_rooms(text: str) -> list[str]:
    """Folders of the packages, two levels deep, that a page doesn't name."""
    rooms = {
        folder.relative_to(ROOT).as_posix()
        for package in ("simulator", "models", "calibration", "scenarios")
        for folder in (ROOT / package).iterdir()
        if folder.is_dir() and not folder.name.startswith(("_", "."))
    }
    return sorted(room for room in rooms if f"`{room}/`" not in text)


def test_the_page_of_the_house_has_every_room() -> None:
    text = (DOCS / "house.md").read_text(encoding="utf-8")
    assert missing_rooms(text) == []
    assert missing_rooms(text.replace("`models/wiring/`", "")) == ["models/wiring"]


def test_a_path_that_is_gone_is_found() -> None:
    assert paths_in("see `models/wiring.py`, `x = 1` and [this](docs/gone.md#rows)") == {
        "models/wiring.py",
        "docs/gone.md",
    }


def test_what_contributors_shall_type_is_in_the_makefile() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"(?:^ {4}|`)make ([a-z-]+)", text, re.MULTILINE))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {"test", "check", "coverage-floor", "golden"} <= named <= targets


def test_the_citation_names_the_version() -> None:
    named = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    project = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert named is not None
    assert project is not None
    assert named[1] == project[1]


PYTHON = [
    pytest.param(code, id=page.name)
    for page in sorted(DOCS.rglob("*.md"))
    for code in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
]


@pytest.mark.parametrize("code", PYTHON)
def test_pages_import_what_is_there(code: str) -> None:
    imports = [node for node in ast.parse(code).body if isinstance(node, ast.ImportFrom)]
    named = [(node.module or "", alias.name) for node in imports for alias in node.names]
    assert named
    assert [(module, name) for module, name in named if not hasattr(importlib.import_module(module), name)] == []


def test_make_figures_runs_every_script() -> None:
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").split("\nfigures: ")[1].split("\n\n")[0]
    assert sorted(re.findall(r"docs/\w+\.py", recipe)) == sorted(f"docs/{file.name}" for file in DOCS.glob("*.py"))


@pytest.mark.parametrize(("name", "page"), [("scenario", "reference/scenario.md"), ("decisions", "decisions/index.md")])
def test_a_generated_page_is_todays(name: str, page: str) -> None:
    assert script(f"build_{name}")["page"]() == (DOCS / page).read_text(encoding="utf-8"), f"run docs/build_{name}.py"


def unmarked(decisions: dict[int, str]) -> list[tuple[int, int]]:
    """Pairs of a decision that says which earlier one it replaces, and that one, where the earlier one is silent."""
    said = [
        (later, int(earlier))
        for later, text in decisions.items()
        for earlier in re.findall(r"(?:Replaces|Supersedes)\s+what \[?decision (\d+)", text)
    ]
    assert said
    return [
        (later, earlier)
        for later, earlier in said
        if not re.search(rf"^Superseded.*\[decision {later}\]", decisions[earlier], re.MULTILINE)
    ]


def test_a_superseded_decision_says_by_which() -> None:
    files = (DOCS / "decisions").glob("[0-9]*.md")
    decisions = {int(file.name[:4]): file.read_text(encoding="utf-8") for file in files}
    assert unmarked(decisions) == []
    silent = decisions | {8: decisions[8].replace("Superseded", "Status")}
    assert unmarked(silent) == [(27, 8)]


def test_every_key_of_the_schema_is_on_its_page() -> None:
    schema = script("build_scenario")["scenario_schema_file"]()
    text = (DOCS / "reference" / "scenario.md").read_text(encoding="utf-8")
    keys = {key for spec in [schema, *schema["$defs"].values()] for key in spec["properties"]}
    assert len(keys) > 200
    assert [key for key in keys if f"| `{key}` |" not in text] == []


def test_the_picture_of_the_sliders_shows_todays_answers() -> None:
    picture = script("build_what_if_picture")
    assert block("beside-calculators.md", picture["BEGIN"], picture["END"]) == picture["digest"](), (
        "run docs/build_what_if_picture.py"
    )


def test_the_picture_of_the_page_shows_todays_answers() -> None:
    picture = script("build_page_picture")
    assert block("how-to/serve.md", picture["BEGIN"], picture["END"]) == picture["digest"](), (
        "run docs/build_page_picture.py"
    )


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_shows_its_data(name: str) -> None:
    pictures = script("build_pictures")
    drawing = (DOCS / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
    assert f"<desc>charts {pictures['digest'](PICTURES[name])}</desc>" in drawing, "run docs/build_pictures.py"
    table = block("curves.md", pictures["BEGIN"].format(name), pictures["END"].format(name))
    assert table == pictures["table"](PICTURES[name]), "run docs/build_pictures.py"


@pytest.mark.parametrize("name", PICTURES)
def test_a_pictures_data_are_of_todays_model(name: str) -> None:
    pictures = script("build_pictures")
    file = pictures["data_of"](PICTURES[name])
    rows = sweep_from_json(file.read_text(encoding="utf-8"), file.name).rows
    points = pictures["points"](PICTURES[name])
    assert [row.values for row in rows] == [point.values for point in points]
    assert [row.model_hash for row in rows] == [digest(point.scenario) for point in points], STALE


def test_swap_begins_where_the_page_of_curves_says() -> None:
    page = (DOCS / "curves.md").read_text(encoding="utf-8")
    (edge,) = re.findall(r"80,000 buffers\. Below ([\d.]+) GiB they don't fit", page)
    swaps = {}
    for memory in (float(edge) - 0.01, float(edge)):
        settings = ["database.pool.buffers=80000", f"machine.memory_gib={memory}"]
        swaps[memory] = memory_plan(load_scenario(scenario_path("v20z"), settings)).resident_buffers < 80_000
    assert list(swaps.values()) == [True, False]


def test_memory_for_each_page_is_what_the_pages_say() -> None:
    model, pages = build(load_scenario(scenario_path("v20z"))), 1 << 23

    def with_caches(pool: int, cache: int) -> System:
        return replace(model, pool=replace(model.pool, pages=pool), page_cache=replace(model.page_cache, pages=cache))

    base = with_caches(pages, pages)  # the first system of a process brings the library with it
    _, least, more_buffers, more_cached = kernel_bytes(
        base, base, with_caches(2 * pages, pages), with_caches(pages, 2 * pages)
    )
    measured = [(more - least) / pages for more in (more_buffers, more_cached)]
    page = (DOCS / "how-to" / "another-machine.md").read_text(encoding="utf-8")
    said = re.search(r"(\d+) bytes for each buffer and (\d+) bytes\nfor each page of the page cache", page)
    assert said is not None
    # pages round to a byte; what nothing has touched yet counts on some systems only
    assert [float(number) for number in said.groups()] == pytest.approx(measured, abs=0.5)
    assert f"and {said[1]} for each buffer" in (DOCS / "decisions" / "0007-sampling.md").read_text("utf-8")


def test_the_table_of_measured_runs_has_what_the_library_says() -> None:
    validation = script("build_validation")
    scenarios = validation["scenarios"]()
    rows = {row[0]: row for row in cells(block_of(validation, "the table"))}
    assert set(rows) == set(scenarios)
    for name, scenario in scenarios.items():
        assert scenario.measured is not None
        measured, simulated = scenario.measured.new_orders_per_minute, float(rows[name][2].split()[0].replace(",", ""))
        assert rows[name][1] == f"{measured:,.0f}"
        assert float(rows[name][3].removesuffix(" %")) == pytest.approx(100 * (simulated / measured - 1), abs=0.1)
        assert rows[name][4] == scenario.measured.role
    assert block_of(validation, "the differences") == validation["differences"](scenarios)
    ten = "| v20z-10-warehouses | workload.warehouses: 10, workload.arrivals.clients: 20, interval.start: cold |"
    assert ten in block_of(validation, "the differences")


def block_of(validation: dict[str, Any], name: str) -> str:
    """A block of docs/evidence/library.md."""
    return block("evidence/library.md", validation["BEGIN"].format(name), validation["END"].format(name))


def test_every_block_of_measured_runs_is_written() -> None:
    validation = script("build_validation")
    assert all(block_of(validation, name) for name in validation["BLOCKS"])
    before, marks = validation["PAGE"].read_text(encoding="utf-8"), (validation["BEGIN"], validation["END"])
    page = validation["replaced"](before, *marks, "none\n", "the doubts")
    assert page.endswith(marks[0].format("the doubts") + "none\n" + marks[1].format("the doubts"))


def test_the_table_of_sampling_has_every_system_at_every_share() -> None:
    sampling = script("build_sampling")
    expected = [
        [system, f"{sample.units} of {sample.whole}"]
        for system, (path, settings) in sampling["SYSTEMS"].items()
        for fraction in sampling["FRACTIONS"]
        for sample in [sample_of(load_scenario(path, [*settings, f"sampling_fraction={fraction}"]))]
    ]
    assert [row[:2] for row in cells(block("sampling.md", sampling["BEGIN"], sampling["END"]))] == expected


LARGE = script("build_large_systems")


@pytest.mark.parametrize("name", LARGE["TITLES"])
def test_a_picture_of_the_large_systems_shows_its_data(name: str) -> None:
    drawing = (DOCS / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
    assert f"<desc>charts {LARGE['digest'](name)}</desc>" in drawing, "run docs/build_large_systems.py --draw"


def test_the_page_of_the_large_systems_has_their_figures_of_todays_scenarios() -> None:
    """Values are kept by the hash of their scenario: those of a changed one would be missing."""
    begin, end = LARGE["BEGIN"].format("the figures"), LARGE["END"].format("the figures")
    shown = block("large-systems.md", begin, end)
    assert shown == LARGE["table"](LARGE["kept_rows"](LARGE["measured_systems"]()))
    assert {row[0] for row in cells(shown)} >= {"million-orders", "ssd-arrays/noop", "scaleout/queries"}


EVIDENCE = script("build_evidence")


def test_the_summary_of_the_evidence_counts_its_tables() -> None:
    assert block("validation.md", EVIDENCE["BEGIN"], EVIDENCE["END"]) == EVIDENCE["summary"](EVIDENCE["groups"]()), (
        "run docs/build_evidence.py"
    )
    drawing = EVIDENCE["PICTURE"].read_text(encoding="utf-8")
    assert f"<desc>charts {EVIDENCE['digest']()}</desc>" in drawing, "run docs/build_evidence.py"


def test_a_row_outside_its_interval_is_counted_as_such() -> None:
    row, group = EVIDENCE["EvidenceRow"], EVIDENCE["Group"]
    rows = [row(100.0, 90.0, 80.0, 120.0), row(100.0, 50.0, 40.0, 60.0), row(100.0, 130.0, 120.0, 140.0)]
    assert group("any", "described.md", rows).cells()[1:5] == ("3", "30%", "1 of 3", "0.82 to 1.22 times")


def test_only_tables_with_the_wanted_head_are_counted(tmp_path: Path) -> None:
    text = "| run | x |\n| --- | --- |\n| a | 1 |\n\n| row | x |\n| --- | --- |\n| b | 2 |\n"
    (tmp_path / "page.md").write_text(text, encoding="utf-8")
    assert [*EVIDENCE["table_rows"](tmp_path / "page.md", "run")] == [["a", "1"]]
    assert EVIDENCE["number"]("1,050 mixes/h") == 1050.0
