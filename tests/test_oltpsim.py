"""The Python interface says what the commands of the same names print, and its notebooks run."""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import json
import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import oltpsim
from scenarios.commands.cli import main

ROOT = Path(__file__).resolve().parents[1]
TINY = str(ROOT / "tests" / "scenarios" / "tiny.yaml")
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
TWO_DISKS = {"machine.disks.count": 2}


def printed(*words: str) -> str:
    """What a command writes to stdout."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        assert main([*words, "-q"]) == 0
    return out.getvalue()


def tiny() -> oltpsim.Scenario:
    return oltpsim.load(TINY)


ALIKE: dict[str, tuple[Callable[[], oltpsim.Answer], list[str]]] = {
    "run": (lambda: oltpsim.run(tiny(), seed=3), ["run", TINY, "--seed", "3"]),
    "run with a change": (
        lambda: oltpsim.run(tiny().changed(TWO_DISKS), engine="analytic"),
        ["run", TINY, "--set", "machine.disks.count=2", "--engine", "analytic"],
    ),
    "replications": (lambda: oltpsim.run(tiny(), replications=2), ["run", TINY, "--replications", "2"]),
    "a job by a model": (
        lambda: oltpsim.run(oltpsim.load("published/mutex-mac"), model=oltpsim.read_model()),
        ["run", "published/mutex-mac", "--model", "published"],
    ),
    "sweep": (
        lambda: oltpsim.sweep(tiny(), {"machine.disks.count": [1, 2]}, seed=2),
        ["sweep", TINY, "--vary", "machine.disks.count=1,2", "--seed", "2", "--workers", "1"],
    ),
    "explain": (lambda: oltpsim.explain(oltpsim.load("v20z")), ["explain", "v20z"]),
    "predict": (
        lambda: oltpsim.predict(oltpsim.read_model(), [oltpsim.load("v20z", {"machine.disks.count": 2})]),
        ["predict", "published", "v20z", "--set", "machine.disks.count=2"],
    ),
    "plan": (
        lambda: oltpsim.plan(oltpsim.load("postgresql-15"), 20_000, p95="50 ms", candidates=["m7i.large"]),
        ["plan", "postgresql-15", "--target", "20000", "--p95", "50 ms", "--candidates", "m7i.large", "--confirm", "0"],
    ),
}


def without_names(document: Any) -> Any:
    """Without what says how the question was asked: names of files, --set, the command line."""
    if isinstance(document, dict):
        return {key: without_names(value) for key, value in document.items() if key not in {"asked", "set", "scenario"}}
    return [without_names(each) for each in document] if isinstance(document, list) else document


@pytest.mark.parametrize("name", ALIKE)
def test_an_answer_is_the_document_of_its_command(name: str) -> None:
    ask, words = ALIKE[name]
    assert without_names(ask().to_json()) == without_names(json.loads(printed(*words, "-o", "json")))


def test_another_seed_is_another_document() -> None:
    assert oltpsim.run(tiny(), seed=4).to_json() != oltpsim.run(tiny(), seed=3).to_json()


def test_a_comparison_has_the_commands_rates() -> None:
    found = oltpsim.compare([tiny(), tiny().changed(TWO_DISKS)], replications=2)
    words = ["compare", TINY, TINY, "--set", "B:machine.disks.count=2", "--replications", "2"]
    theirs = json.loads(printed(*words, "-o", "json"))
    assert found.to_json()["differences"] == theirs["differences"]


def test_a_run_has_its_figures_as_fields() -> None:
    run = oltpsim.run(tiny())
    document = run.to_json()
    assert run.new_orders_per_min == document["rate_per_min"]["mean"]
    assert (run.low_per_min, run.high_per_min) == (
        document["measurement"]["low_per_min"],
        document["measurement"]["high_per_min"],
    )
    assert (run.bottleneck, run.unit) == (document["bottleneck"]["name"], "new orders per minute")
    assert run.p95_s == document["classes"][0]["p95_s"]


def test_frames_figures_and_pages() -> None:
    run = oltpsim.run(tiny())
    assert run.to_frame()["rate_per_min"][0] == run.new_orders_per_min
    assert len(run.figure().data) > 0
    with pytest.raises(oltpsim.InputError, match="got 1; this answer has 1 charts"):
        run.figure(1)
    assert "new orders per minute" in run._repr_html_()
    named = oltpsim.load(TINY, {"name": "<b>bold</b>"})
    assert "<b>" not in named._repr_html_()


def test_frames_without_pandas_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(oltpsim.InputError, match=re.escape("pip install 'oltpsim[frames]'")):
        oltpsim.run(tiny(), engine="analytic").to_frame()


def test_a_scenario_is_read_changed_and_written(tmp_path: Path) -> None:
    box = tiny()
    assert (box["machine.disks.count"], box.changed(TWO_DISKS)["machine.disks.count"]) == (1, 2)
    assert box["machine.disks.count"] == 1, "a change makes another one"
    assert box.changed({"machine.memory_gib": "16 GiB"})["machine.memory_gib"] == 16
    with pytest.raises(KeyError):
        box["machine.disks.cuont"]
    file = tmp_path / "mine.yaml"
    box.changed(TWO_DISKS).save(file)
    assert oltpsim.load(file).spec == box.changed(TWO_DISKS).spec
    assert oltpsim.describe("8 cores, 32 GB, SSD")["machine.cpu.cores"] == 8
    assert "v20z" in oltpsim.library()


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: oltpsim.load("v20"), "did you mean 'v20z'"),
        (lambda: tiny().changed({"machine.cpu.coers": 2}), "coers: unknown key"),
        (lambda: tiny().changed({"machine.cpu.cores": "two"}), "must be a whole number"),
        (lambda: oltpsim.describe("8 cors"), "did you mean 'cores'"),
        (lambda: oltpsim.sweep(tiny(), {"machine.cpu.coers": [1]}), "coers: unknown key"),
        (lambda: oltpsim.compare([tiny()]), "give two or more"),
        (lambda: oltpsim.read_model("none.json"), "none.json: cannot be read"),
        (lambda: oltpsim.plan(tiny(), 1e12), "is the unit right"),
        (lambda: oltpsim.read_runs("none", base=tiny()), "none: no such file or run"),
        (lambda: oltpsim.run(tiny().changed({"machine.memory_gib": 0.01})), "GiB"),
    ],
)
def test_bad_input_is_one_kind_of_exception(ask: Callable[[], object], sentence: str) -> None:
    with pytest.raises(oltpsim.InputError) as caught:
        ask()
    assert sentence in str(caught.value)


def test_a_model_is_fitted_saved_and_read(tmp_path: Path) -> None:
    base = oltpsim.load("postgresql-15")
    runs = oltpsim.read_runs("postgres15_go-tpc_in_memory", base=base)
    model = oltpsim.calibrate(runs, confirm=0)
    file = tmp_path / "model.json"
    printed(
        "calibrate", "postgres15_go-tpc_in_memory", "--base", "postgresql-15", "--confirm", "0", "--save", str(file)
    )
    theirs = oltpsim.read_model(file)
    assert model.to_json()["joint"] == theirs.to_json()["joint"]
    assert list(model.to_frame()["parameter"]) == [each["key"] for each in theirs.to_json()["parameters"]]
    own = tmp_path / "own.json"
    model.save(own)
    assert oltpsim.read_model(own).to_json() == model.to_json()
    assert oltpsim.predict(model, [base]).rates_per_min == oltpsim.predict(theirs, [base]).rates_per_min


def test_every_public_name_says_what_it_does() -> None:
    for name in oltpsim.__all__:
        thing = getattr(oltpsim, name)
        assert len(inspect.getdoc(thing) or "") > 30, name
        if inspect.isfunction(thing) and name != "library":
            assert "Raises InputError" in (thing.__doc__ or "").replace("\n    ", " "), name


def test_no_package_imports_the_interface() -> None:
    """It is above them; import-linter takes packages only."""
    for package in ("simulator", "models", "calibration", "scenarios"):
        for file in (ROOT / package).rglob("*.py"):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
            names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
            assert "oltpsim" not in names, file


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its cells in order, the last expression of each shown as a notebook would."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "notebook"}
    shown = 0
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        assert not cell.get("outputs"), "outputs are left out: they would be those of one machine and version"
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, notebook.name, "exec"), names)  # noqa: S102 - cells of our own notebooks
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), notebook.name, "eval"), names)  # noqa: S307
            shown += value is None or bool(getattr(value, "_repr_html_", value.__repr__)())
    assert shown >= 5


def test_there_are_two_notebooks() -> None:
    assert len(NOTEBOOKS) == 2


def test_the_reference_is_current() -> None:
    page = runpy.run_path(str(ROOT / "docs" / "build_python.py"))["page"]()
    assert (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8") == page, "run docs/build_python.py"


def test_the_readmes_python_runs() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [code] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "README.md", "exec"), {"__name__": "readme"})  # noqa: S102 - our own page
    assert "new orders per minute" in out.getvalue()
