"""The command line as a person meets it: answers, exit statuses, sentences for broken input."""

from __future__ import annotations

import csv
import errno
import io
import json
import math
import re
import shlex
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from oltpsim.scenarios.commands.cli import COMMANDS, LazyCommands, main
from oltpsim.scenarios.run import SimulationTask, simulate
from oltpsim.simulator.errors import InternalError
from oltpsim.simulator.results import Result

TINY = str(Path(__file__).parents[1] / "tiny.yaml")
Output = pytest.CaptureFixture[str]


def run_json(capsys: Output, *words: str) -> str:
    assert main(["run", TINY, "--quiet", "--output", "json", *words]) == 0
    return capsys.readouterr().out


HEAVY = ["scipy.optimize", "scipy.stats", "simpy", "plotly.graph_objects", "distributed", "pyarrow"]
"""each of them takes longer to load than everything else together"""
ENGINES = ["oltpsim.simulator.kernel", "oltpsim.simulator.reference", "simpy"]


def loaded_after(code: str, modules: list[str]) -> str:
    """Those of the modules that a new process has loaded after some code."""
    show = f"print(sorted(set({modules}) & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\n{show}"], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize("words", [["--help"], ["--version"], []])
def test_the_list_of_commands_imports_none_of_them(words: list[str]) -> None:
    parts = [
        "numpy",
        "pydantic",
        "rich",
        "yaml",
        "oltpsim.models",
        "oltpsim.calibration",
        "oltpsim.scenarios.run",
        "oltpsim.scenarios.show",
        *HEAVY,
    ]
    assert loaded_after(f"from oltpsim.scenarios.commands.cli import main\nmain({words})", parts) == "[]"


@pytest.mark.parametrize("words", [["catalog", "list"], ["runs", "list"], ["run", "--help"], ["sweep", "--help"]])
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    assert loaded_after(f"from oltpsim.scenarios.commands.cli import main\nmain({words})", HEAVY) == "[]"


def test_the_analytic_engine_answers_without_another_engine() -> None:
    words = ["run", TINY, "--engine", "analytic", "--quiet"]
    assert loaded_after(f"from oltpsim.scenarios.commands.cli import main\nmain({words})", ENGINES) == "[]"


def test_every_command_loads_by_its_name() -> None:
    assert {name: command.name or name for name, command in LazyCommands().items()} == {name: name for name in COMMANDS}


def test_models_are_built_without_an_engine() -> None:
    code = (
        "from oltpsim.models.wiring import build\nfrom scenarios.library import library_files, load_scenario_file\n"
        "import oltpsim.models.reading, scenarios.run, scenarios.show.summary, simulator.form\n"
        "names = [name for name in library_files() if name != 'million-orders' and '/' not in name]\n"
        "models = [build(load_scenario_file(library_files()[name])) for name in names]"
    )
    assert loaded_after(code, [*HEAVY, *ENGINES]) == "[]"


def test_version(capsys: Output) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("oltpsim ")


def test_table_says_what_was_run_and_how_to_run_it_again(capsys: Output) -> None:
    assert main(["run", TINY, "--quiet", "--set", "machine.cpu.cores=2", "--seed", "7"]) == 0
    out, err = capsys.readouterr()
    assert "new orders/min" in out
    assert "limited by" in out
    last = out.rstrip("\n").splitlines()[-1]
    assert last == f"reproduce: oltpsim run {shlex.quote(TINY)} --quiet --set machine.cpu.cores=2 --seed 7"
    assert err == ""


def test_the_last_line_is_a_command_that_prints_the_same_bytes(tmp_path: Path, capsys: Output) -> None:
    words = ["run", TINY, "--quiet", "--engine", "kernel", "--report", str(tmp_path / "a b.html")]
    assert main([*words, "--save", str(tmp_path / "kept.json")]) == 0
    first = capsys.readouterr().out
    assert main(shlex.split(first.splitlines()[-1].partition(": oltpsim ")[2])) == 0
    assert capsys.readouterr().out == first


def test_a_report_holds_the_machines_around_its_own(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert main(["run", TINY, "--quiet", "--engine", "analytic", "--report", str(page)]) == 0
    found = re.search(
        r'<script id="what-if-cells" type="application/json">(.*?)</script>', page.read_text(encoding="utf-8")
    )
    assert found
    cells = json.loads(found[1])
    assert [slider["label"] for slider in cells["sliders"]] == ["RAM", "Buffer pool", "Clients", "Disks"]
    assert len(cells["cells"]) == math.prod(len(slider["texts"]) for slider in cells["sliders"])


def test_same_seed_same_bytes_and_another_seed_others(capsys: Output) -> None:
    first = run_json(capsys, "--seed", "3")
    assert run_json(capsys, "--seed", "3") == first
    assert run_json(capsys, "--seed", "4") != first


def test_json_names_version_seed_engine_and_model(capsys: Output) -> None:
    result = json.loads(run_json(capsys))
    assert result["versions"]["oltpsim"]
    assert result["seed"] == 1
    assert result["engine"]
    assert result["model_hash"]


def test_csv_has_the_figures_of_the_json(capsys: Output) -> None:
    result = json.loads(run_json(capsys, "--seed", "2"))
    assert main(["run", TINY, "--quiet", "--seed", "2", "--output", "csv"]) == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert {key: row[key] for key in ("seed", "model_hash", "bottleneck")} == {
        "seed": "2", "model_hash": result["model_hash"], "bottleneck": result["bottleneck"]["name"],
    }  # fmt: skip
    assert float(row["rate_per_min"]) == result["rate_per_min"]["mean"]
    assert float(row["new_order_p95_s"]) == result["classes"][0]["p95_s"]


def test_replications_do_not_depend_on_the_workers(capsys: Output) -> None:
    alone = run_json(capsys, "--replications", "3", "--workers", "1")
    assert run_json(capsys, "--replications", "3", "--workers", "2") == alone
    rate = json.loads(alone)["rate_per_min"]
    assert rate["method"] == "t interval over 3 replications, seeds 1..3"
    assert rate["low"] < rate["mean"] < rate["high"]


def test_replications_average_the_single_runs(capsys: Output) -> None:
    rates = [json.loads(run_json(capsys, "--seed", str(seed)))["rate_per_min"]["mean"] for seed in (5, 6)]
    pooled = json.loads(run_json(capsys, "--seed", "5", "--replications", "2", "--workers", "1"))
    assert pooled["rate_per_min"]["mean"] == pytest.approx(sum(rates) / 2, rel=1e-12)


def test_a_missed_target_is_exit_status_1(capsys: Output) -> None:
    assert main(["run", TINY, "--quiet", "--target", "1"]) == 0
    assert main(["run", TINY, "--quiet", "--target", "1e9"]) == 1
    assert "target missed" in capsys.readouterr().err


def test_saved_run_becomes_report_and_explanation(tmp_path: Path, capsys: Output) -> None:
    saved, page = tmp_path / "runs" / "tiny.json", tmp_path / "tiny.html"
    assert main(["run", TINY, "--quiet", "--save", str(saved), "--report", str(tmp_path / "direct.html")]) == 0
    assert (tmp_path / "direct.html").read_text().lstrip().lower().startswith("<!doctype html")
    assert main(["report", str(saved), "--out", str(page)]) == 0
    assert page.read_text().lstrip().lower().startswith("<!doctype html")
    capsys.readouterr()
    assert main(["explain", str(saved)]) == 0
    out = capsys.readouterr().out
    assert "new order: mean" in out
    assert "▇" in out
    assert [path.name for path in saved.parent.iterdir()] == ["tiny.json"]


def test_a_system_is_listed_saved_and_read(tmp_path: Path, capsys: Output) -> None:
    kept = str(tmp_path / "kept.npz")
    assert main(["system", TINY, "--save", kept]) == 0
    listed = capsys.readouterr().out
    assert "commit" in listed
    assert main(["system", kept]) == 0
    assert capsys.readouterr().out == listed
    assert main(["system", TINY, "--set", "database.path.transaction_us=900"]) == 0
    assert capsys.readouterr().out != listed


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["no.npz"], "No such file or directory; give the file that --save has written"),
        (["{}"], "not a system file of this version of oltpsim"),
        (["{}", "--set", "a=1"], "a system can't be changed; --set goes with a scenario"),
        ([TINY, "--save", "x.json"], "x.json: the name must end with .npz"),
    ],
)
def test_what_is_no_system_is_refused(words: list[str], sentence: str, tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "text.npz"
    path.write_text("text")
    assert main(["system", *(word.format(path) for word in words)]) == 2
    assert sentence in capsys.readouterr().err


def test_a_saved_run_has_the_system_of_its_scenario(tmp_path: Path, capsys: Output) -> None:
    kept, path = str(tmp_path / "kept.json"), "database.path.transaction_us=900"
    assert main(["run", TINY, "--quiet", "--set", path, "--save", kept]) == 0
    capsys.readouterr()
    listings = []
    for words in ([kept], [TINY, "--set", path], [TINY], [kept, "--set", "database.path.transaction_us=200"]):
        assert main(["system", *words]) == 0
        listings.append(capsys.readouterr().out)
    assert listings[0] == listings[1] != listings[2] == listings[3]


def test_schema_is_json(capsys: Output) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out)["properties"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["run", "no_such_scenario"], "no such file"),
        (["run", str(Path(__file__).parent)], "got no file of a known format"),
        (["run", TINY, "--set", "machine.cpu.coers=2"], "coers"),
        (["run", TINY, "--set", "machine.cpu.cores=minus one"], "cores"),
        (["run", TINY, "--set", "cores"], "cores"),
        (["run", TINY, "--replications", "0"], "replications"),
        (["run", TINY, "--output", "xml"], "xml"),
        (["run", TINY, "--report", str(Path(__file__).parent)], "is a folder"),
        (["run", __file__], "test_cli.py"),
        (["report", "no_such.json", "--out", "x.html"], "cannot be read"),
        (["report", TINY, "--out", "-"], "-: files are not written to stdout; give the name of a file"),
        (["run", TINY, "--save", "-"], "-: files are not written to stdout; give the name of a file"),
        (["explain", "no_such.json"], "cannot be read"),
        (["explain", TINY, "--set", "engine=reference"], "oltpsim explain FILE.json"),
        (["run", TINY, "--engine", "analytical"], "analytical"),
        (["run", TINY, "--set", "engine=analytical"], "engine: got 'analytical'"),
        (["catalog", "show", "disks", "no such disk"], "no such disk"),
        (["catalog", "list", "no_such_kind"], "no_such_kind"),
        (["sweep", TINY], "vary"),
        (["frobnicate"], "frobnicate"),
    ],
)
def test_broken_input_is_one_sentence_and_exit_status_2(words: list[str], sentence: str, capsys: Output) -> None:
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert sentence in err
    assert "Traceback" not in err


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": "oltpsim-saved-1"}', '{"format": "oltpsim-result-1"}'])
def test_a_file_that_is_no_saved_run_is_refused(text: str, tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "broken.json"
    path.write_text(text)
    assert main(["explain", str(path)]) == 2
    assert "saved run" in capsys.readouterr().err


def test_a_machine_that_cannot_run_the_workload_gets_a_reason(capsys: Output) -> None:
    assert main(["run", TINY, "--quiet", "--set", "machine.memory_gib=0.01"]) == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_a_defect_says_so(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    def broken(*_: object) -> None:
        raise InternalError("the clock ran backwards")

    monkeypatch.setattr("oltpsim.simulator.kernel.simulate", broken)
    assert main(["run", TINY, "--quiet"]) == 70
    assert "defect of oltpsim" in capsys.readouterr().err
    with pytest.raises(InternalError):
        main(["--debug", "run", TINY, "--quiet"])


START = [sys.executable, "-c", "import sys; from oltpsim.scenarios.commands.cli import main; sys.exit(main())"]


@pytest.mark.parametrize("words", [["--help"], ["catalog", "list"]])
@pytest.mark.parametrize(
    ("redirection", "status", "sentence"),
    [
        (">/dev/null", 0, ""),
        (
            ">/dev/full",
            74,
            "error: output: can't be written: No space left on device; make room, or write it elsewhere\n",
        ),
        (">/dev/full 2>/dev/full", 74, ""),
        (">&-", 0, ""),
        (">&- 2>&-", 0, ""),
    ],
)
def test_output_that_nobody_takes_is_no_defect(words: list[str], redirection: str, status: int, sentence: str) -> None:
    shell = ["/bin/sh", "-c", f'exec "$@" {redirection}', "sh", *START, *words]
    done = subprocess.run(shell, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    assert sentence in done.stderr
    assert "defect" not in done.stderr


BROKEN_OUTPUT = """
import errno, io, os, sys
class Broken(io.FileIO):
    def write(self, data):
        if os.path.samestat(os.fstat(1), os.stat(os.devnull)):
            return super().write(data)
        raise OSError(errno.EIO, "Input/output error")
sys.stdout = io.TextIOWrapper(io.BufferedWriter(Broken(1, "w", closefd=False)))
"""


def test_a_broken_disk_is_outputs_only_where_output_was_written(
    monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    """Reading fails with the same number, and in the middle of a file without its name."""
    words = [*START[:2], BROKEN_OUTPUT + START[2], "catalog", "list"]
    written = subprocess.run(words, capture_output=True, text=True, check=False)
    assert written.returncode == 74
    assert written.stderr.startswith("error: output: can't be written: Input/output error")

    def unreadable(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("oltpsim.simulator.kernel.simulate", unreadable)
    assert main(["run", TINY, "--quiet"]) == 74
    assert capsys.readouterr().err.startswith("error: Input/output error: a file can't be read or written")


def test_a_reader_that_has_gone_ends_the_program_without_a_word() -> None:
    shell = "trap '' PIPE; { \"$@\"; echo $? >&2; } | true"
    done = subprocess.run(
        ["/bin/sh", "-c", shell, "sh", *START, "catalog", "list"], capture_output=True, text=True, check=False
    )
    assert done.stderr == "141\n"


def test_an_interrupted_run_is_exit_status_130(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("oltpsim.simulator.kernel.simulate", interrupted)
    assert main(["run", TINY, "--quiet"]) == 130
    assert "interrupted" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("finished", "answer"),
    [([0], ["--seed", "5"]), ([1, 0], ["--seed", "5", "--replications", "2"]), ([2, 0], ["--seed", "5"]),
     ([2, 1], ["--seed", "6", "--replications", "2"])],
)  # fmt: skip
def test_interrupted_replications_answer_from_those_that_are_done(
    finished: list[int], answer: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    def interrupted(tasks: list[SimulationTask], *_: object) -> Generator[tuple[int, Result]]:
        for number in finished:
            yield number, simulate(tasks[number])
        raise KeyboardInterrupt

    words = ["run", TINY, "--quiet", "--target", "1e12"]
    with monkeypatch.context() as patched:
        patched.setattr("oltpsim.scenarios.run.runs.run_all", interrupted)
        assert main([*words, "--seed", "5", "--replications", "4"]) == 130
    out, err = capsys.readouterr()
    used = answer[-1] if "--replications" in answer else "1"
    assert err.splitlines()[0] == f"the answer is that of {used} of 4 replications"
    assert main(["run", TINY, "--quiet", *answer]) == 0
    assert capsys.readouterr().out == out


def test_engines_give_the_same_result(capsys: Output) -> None:
    answers = {}
    for engine in ("kernel", "reference"):
        short = ["--set", "interval.warm_up_s=1", "--set", "interval.duration_s=4"]
        assert main(["run", TINY, *short, "--engine", engine, "--output", "json", "--quiet"]) == 0
        answers[engine] = json.loads(capsys.readouterr().out)
        assert answers[engine].pop("engine") == engine
    assert answers["kernel"] == answers["reference"]


def test_warehouses_that_no_client_works_for_are_told(capsys: Output) -> None:
    few = json.loads(run_json(capsys, "--set", "workload.warehouses=4"))
    assert (
        "2 of 4 warehouses are in use: each client works for one of its own, and there are 2 clients" in few["warnings"]
    )
    enough = json.loads(run_json(capsys, "--set", "workload.warehouses=4", "--set", "workload.arrivals.clients=4"))
    assert not [warning for warning in enough["warnings"] if "in use" in warning]


@pytest.mark.parametrize(("columns", "terminal", "width"), [("30", True, 60), ("130", True, 130), ("130", False, 80)])
def test_the_answer_is_as_wide_as_the_terminal(
    columns: str, terminal: bool, width: int, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    assert main(["run", TINY, "--quiet"]) == 0
    widest = max(len(line) for line in capsys.readouterr().out.splitlines()[:-1])
    assert width - 25 < widest <= width


def test_speed_goes_to_stderr(capsys: Output) -> None:
    assert main(["run", TINY]) == 0
    shown = capsys.readouterr()
    assert "times real time" in shown.err
    assert "times real time" not in shown.out


def test_catalog_lists_shows_and_checks(capsys: Output) -> None:
    assert main(["catalog", "check"]) == 0
    assert "all valid" in capsys.readouterr().out
    assert main(["catalog", "list", "disks"]) == 0
    name = capsys.readouterr().out.splitlines()[1].split()[0]
    assert main(["catalog", "show", "disks", name]) == 0
    assert "source" in capsys.readouterr().out


def test_catalog_lists_the_library_too(capsys: Output) -> None:
    assert main(["catalog", "list"]) == 0
    listed = capsys.readouterr().out
    assert main(["catalog", "list", "scenarios"]) == 0
    names = capsys.readouterr().out
    assert listed.endswith(names)
    assert {"scenarios", "  million-orders", "  v20z"} <= set(names.splitlines())


def test_a_sampled_run_says_so_wherever_it_is_read(capsys: Output, tmp_path: Path) -> None:
    """In the summary, in the report, and on stderr beside a CSV that holds only the number of warnings."""
    sampled = [str(Path(TINY).with_name("sampled.yaml")), "--set", "sampling_fraction=0.1", "--set",
               "interval={start: warm, duration_s: 1}"]  # fmt: skip
    said = "pages sampled: 4 of 40 warehouses are held and stand for all"
    page = tmp_path / "report.html"
    assert main(["run", *sampled, "--report", str(page)]) == 0
    assert said[:34] in " ".join(capsys.readouterr().out.split()), "a line of each warning"
    assert said in page.read_text(encoding="utf-8")
    assert main(["run", *sampled, "--output", "csv", "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert said not in out
    assert f"warning: {said}" in err
