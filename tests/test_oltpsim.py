"""The Python interface says what the commands of the same names print, and its notebooks run."""

import ast
import contextlib
import inspect
import io
import json
import re
import runpy
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import oltpsim
from oltpsim.scenarios.commands.cli import main

ROOT = Path(__file__).resolve().parents[1]
TINY = str(ROOT / "tests" / "scenarios" / "tiny.yaml")
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
LINE = "8 cores, 32 GB, SSD"
ONE_DISK = "2 cores, 1 GB, 1 SATA, 40 warehouses, 4 clients"
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
    "the engine of the scenario": (
        lambda: oltpsim.run(tiny().changed({"engine": "analytic"})),
        ["run", TINY, "--set", "engine=analytic"],
    ),
    "a description, whose guesses the interval holds": (
        lambda: oltpsim.run(oltpsim.describe("8 cores, 32 GB, SSD"), engine="analytic"),
        ["run", "8 cores, 32 GB, SSD", "--engine", "analytic"],
    ),
    "sweep": (
        lambda: oltpsim.sweep(tiny(), {"machine.disks.count": [1, 2]}, seed=2),
        ["sweep", TINY, "--vary", "machine.disks.count=1,2", "--seed", "2", "--workers", "1"],
    ),
    "a sweep of a description": (
        lambda: oltpsim.sweep(oltpsim.describe(LINE), {"machine.disks.count": [1, 2]}, engine="analytic"),
        ["sweep", LINE, "--vary", "machine.disks.count=1,2", "--engine", "analytic", "--workers", "1"],
    ),
    "a description explained": (lambda: oltpsim.explain(oltpsim.describe(LINE)), ["explain", LINE]),
    "explain": (lambda: oltpsim.explain(oltpsim.load("v20z")), ["explain", "v20z"]),
    "plan": (
        lambda: oltpsim.plan(oltpsim.load("postgresql-15"), 20_000, p95="50 ms", candidates=["m7i.large"], confirm=0),
        ["plan", "postgresql-15", "--target", "20000", "--p95", "50 ms", "--candidates", "m7i.large", "--confirm", "0"],
    ),
    "a plan with every option": (
        lambda: oltpsim.plan(
            oltpsim.load("postgresql-15"),
            3_000,
            p95=["payment=1 s", "1 s"],
            p99="2 s",
            data_size="4 GiB",
            active="50%",
            growth="1%",
            months=12,
            budget=90_000,
            years=2,
            spares=1,
            sure="60%",
            candidates=["m7i.large"],
            pool=["25%", "40%"],
            connections=50,
            confirm=1,
            seed=7,
        ),
        [
            "plan",
            "postgresql-15",
            "--target",
            "3000",
            "--p95",
            "payment=1s",
            "--p95",
            "1s",
            "--p99",
            "2s",
            "--data-size",
            "4GiB",
            "--active",
            "50%",
            "--growth",
            "1%",
            "--months",
            "12",
            "--budget",
            "90000",
            "--years",
            "2",
            "--spares",
            "1",
            "--sure",
            "60%",
            "--candidates",
            "m7i.large",
            "--pool",
            "25%",
            "--pool",
            "40%",
            "--connections",
            "50",
            "--confirm",
            "1",
            "--seed",
            "7",
        ],
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


@pytest.mark.parametrize(("scenario", "words"), [
    (oltpsim.load("v20z", TWO_DISKS), ["v20z", "--set", "machine.disks.count=2"]),
    (oltpsim.describe(ONE_DISK), [ONE_DISK]),
])  # fmt: skip
def test_a_prediction_is_the_run_of_its_model(scenario: oltpsim.Scenario, words: list[str]) -> None:
    found = oltpsim.predict(oltpsim.read_model(), [scenario])
    run = json.loads(printed("run", *words, "--model", "published", "-o", "json"))
    assert found.rates_per_min[0] == pytest.approx(run["rate_per_min"]["mean"], rel=0.01)
    ends = run["measurement"]["low_per_min"], run["measurement"]["high_per_min"]
    assert (found.low_per_min[0], found.high_per_min[0]) == pytest.approx(ends, rel=0.05)


def test_a_plan_of_a_description_lists_what_it_assumes_as_the_command_does() -> None:
    found = oltpsim.plan(oltpsim.describe(LINE), 2_000, candidates=["m7i.large"], confirm=0)
    words = ["plan", LINE, "--target", "2000", "--candidates", "m7i.large", "--confirm", "0"]
    assert str(found) == printed(*words).rstrip()
    assert "assumed" in str(found)
    assert "assumed" not in str(oltpsim.plan(oltpsim.load("postgresql-15"), 2_000, candidates=["m7i.large"], confirm=0))


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"months": -1}, "months: got -1; must be a number from 0 to 600"),
        ({"years": float("nan")}, "years: got nan; must be a number from 0.1 to 20"),
        ({"budget": float("inf")}, "budget: got inf; must be a number from 0.01"),
        ({"target_per_min": 0}, "target_per_min: got 0; must be a number"),
        ({"spares": 101}, "spares: got 101; must be a whole number from 0 to 100"),
        ({"confirm": True}, "confirm: got True; must be a whole number from 0 to 50"),
        ({"pool": "25%"}, "plan: pool: got '25%'; give a list of shares"),
        ({"sure": "high"}, "sure: got 'high'"),
        ({"active": "0%"}, "active: got '0%'"),
        ({"p99": ["stock=1s"]}, "p99"),
    ],
)
def test_a_plan_says_which_argument_is_wrong(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(oltpsim.InputError) as refused:
        oltpsim.plan(oltpsim.load("postgresql-15"), **wrong)
    assert told in str(refused.value)


def test_a_sweep_runs_on_an_executor_which_stays_open() -> None:
    values = {"machine.disks.count": [1, 2], "machine.memory_gib": [2, 4]}
    submitted = []

    class Counting(ThreadPoolExecutor):
        def submit(self, fn: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
            submitted.append(fn)
            return super().submit(fn, *arguments, **named)

    with Counting(2) as executor:
        found = oltpsim.sweep(tiny(), values, workers=2, executor=executor)
        assert len(submitted) > len(values)
        assert executor.submit(len, "open").result() == 4
    assert found.to_json() == oltpsim.sweep(tiny(), values).to_json()


@pytest.mark.slow
def test_a_prediction_holds_what_a_description_leaves_open() -> None:
    box = oltpsim.describe(ONE_DISK)
    facts = oltpsim.Scenario(box.spec.model_dump(mode="json"), "the same as facts")
    found = oltpsim.predict(oltpsim.read_model(), [box, facts])
    assert found.rates_per_min[0] == found.rates_per_min[1]
    assert found.low_per_min[0] < found.low_per_min[1]
    assert found.high_per_min[0] > found.high_per_min[1]
    assert " ".join(str(found).split()).count("what its description leaves open") == 1


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
    assert "new orders/min" in out.getvalue()


def test_keys_of_the_examples_are_there() -> None:
    text = "".join(inspect.getdoc(getattr(oltpsim, name)) or "" for name in oltpsim.__all__)
    keys = set(re.findall(r'"((?:machine|database|workload)\.[\w.]+)', text))
    assert len(keys) >= 3
    for key in keys:
        _ = oltpsim.load("postgresql-15")[key]


def test_a_run_of_rows_makes_no_new_orders() -> None:
    run = oltpsim.run(oltpsim.load("pgbench/select-only-250").changed({"engine": "analytic"}))
    assert run.unit == "select only transactions per minute"
    with pytest.raises(oltpsim.InputError, match=r"this made none; its figure is \.value, in select only"):
        _ = run.new_orders_per_min
