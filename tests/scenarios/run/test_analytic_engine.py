"""The analytic engine from the command line: alone wherever an engine is chosen, before a simulation."""

import csv
import io
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from oltpsim.scenarios.commands.cli import main
from oltpsim.scenarios.run import read_saved_run
from oltpsim.simulator.errors import Infeasible

TINY = str(Path(__file__).parents[1] / "tiny.yaml")
SAMPLED = str(Path(__file__).parents[1] / "sampled.yaml")
ANALYTIC, KERNEL = "oltpsim.simulator.analytic.simulate", "oltpsim.simulator.kernel.simulate"
LINE = ["run", "2 GiB, 1 core, sas-15k, 2 clients, 1 warehouse, pool 64 MiB, warm-up 1 s, 2 s"]
Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


def refuse_to(*_: object) -> None:
    pytest.fail("this engine was not asked")


def answer(capsys: Capture, *words: str) -> Any:
    assert main([*words, "--output", "json", "--quiet"]) == 0
    return json.loads(capsys.readouterr().out)


def rate_of(result: Any) -> float:
    rate: float = result["rate_per_min"]["mean"]
    return rate


# Alone


@pytest.mark.parametrize("words", [["--engine", "analytic"], ["--set", "engine=analytic"]])
def test_an_answer_without_simulation(words: list[str], capsys: Capture, monkeypatch: Patch) -> None:
    monkeypatch.setattr(KERNEL, refuse_to)
    monkeypatch.setattr("oltpsim.simulator.reference.simulate", refuse_to)
    result = answer(capsys, "run", TINY, *words)
    assert result["engine"] == "analytic"
    assert result["rate_per_min"]["low"] < rate_of(result) < result["rate_per_min"]["high"]
    assert answer(capsys, "run", TINY, *words) == result


def test_no_other_engine_asks_it(capsys: Capture, monkeypatch: Patch) -> None:
    monkeypatch.setattr(ANALYTIC, refuse_to)
    short = ["--set", "interval.warm_up_s=0", "--set", "interval.duration_s=1"]
    for engine in ("kernel", "reference"):
        assert answer(capsys, "run", TINY, *short, "--engine", engine)["engine"] == engine
        assert answer(capsys, *LINE, *short, "--engine", engine)["engine"] == engine
    assert answer(capsys, *LINE)["engine"] == "kernel"


@pytest.mark.parametrize("words", [["run", TINY, "--engine", "analytic"], [*LINE, "--engine", "analytic"],
                                   ["explain", TINY]])  # fmt: skip
def test_it_answers_without_another_engine(words: list[str]) -> None:
    show = "print(sorted({'oltpsim.simulator.kernel', 'oltpsim.simulator.reference', 'simpy'} & set(sys.modules)))"
    code = f"import sys\nfrom oltpsim.scenarios.commands.cli import main\nassert main({words}) == 0\n{show}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_table_says_that_it_is_calculated(capsys: Capture) -> None:
    assert main(["run", TINY, "--engine", "analytic"]) == 0
    out, err = capsys.readouterr()
    assert "calculated, not simulated" in " ".join(out.split())
    assert "steady after" not in out
    assert err.startswith("analytic: answered in ")
    assert "simulated in" not in err
    assert main([*shlex.split(out.splitlines()[-1].partition(": oltpsim ")[2]), "--quiet"]) == 0
    again = capsys.readouterr()
    assert (again.out.replace(" --quiet", ""), again.err) == (out, "")
    assert main(["run", TINY, "--quiet"]) == 0
    simulated = capsys.readouterr().out
    assert "calculated, not simulated" not in simulated
    assert "not steady: dirty pages grow by" in " ".join(simulated.split())


def test_several_replications_of_the_same_are_refused(capsys: Capture) -> None:
    for words in (["run", TINY, "--engine", "analytic"],
                  ["sweep", TINY, "--engine", "analytic", "--vary", "machine.cpu.cores=1,2"],
                  ["sweep", TINY, "--vary", "engine=kernel,analytic"]):  # fmt: skip
        assert main([*words, "--replications", "3"]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("error: --replications: got 3; the analytic engine draws nothing at random")
        assert err.count("\n") == 1
    assert main(["run", TINY, "--engine", "analytic", "--replications", "1", "--quiet"]) == 0


def test_a_sampled_model_says_so_and_nothing_of_too_thin(capsys: Capture) -> None:
    words = ["run", SAMPLED, "--set", "sampling_fraction=0.1", "--set", "interval={start: warm, duration_s: 1}"]
    warnings = answer(capsys, *words, "--engine", "analytic")["warnings"]
    assert [line for line in warnings if line.startswith("pages sampled: 4 of 40")]
    assert not [line for line in warnings if "too thinly" in line]


def test_its_target_is_held_as_any_other(capsys: Capture) -> None:
    assert main(["run", TINY, "--engine", "analytic", "--quiet", "--target", "1"]) == 0
    assert main(["run", TINY, "--engine", "analytic", "--quiet", "--target", "1e12"]) == 1
    assert "target missed" in capsys.readouterr().err


def test_its_report_opens_and_names_it(tmp_path: Path, capsys: Capture) -> None:
    kept, said = str(tmp_path / "kept.json"), "Calculated from mean values, not simulated"
    for engine in ("analytic", "kernel"):
        direct, later = tmp_path / f"{engine}.html", tmp_path / f"{engine}-again.html"
        words = ["run", TINY, "--engine", engine, "--save", kept, "--quiet"]
        assert main([*words, "--report", str(direct)]) == 0
        assert main(["report", kept, "--out", str(later)]) == 0
        for page in (direct.read_text(encoding="utf-8"), later.read_text(encoding="utf-8")):
            assert f"<dt>Engine</dt><dd>{engine}</dd>" in page
            assert (said in page) == (engine == "analytic")
            assert ("Prediction of a simulation" in page) == (engine == "kernel")
    capsys.readouterr()


# In sweeps


def test_a_sweep_starts_no_processes_for_it(capsys: Capture, monkeypatch: Patch) -> None:
    class Started(Exception):
        pass

    def processes(*_: object) -> None:
        raise Started

    monkeypatch.setattr("oltpsim.scenarios.run.places.ProcessExecutor", processes)
    words = ["sweep", TINY, "--vary", "database.pool.buffers=500,1000", "--quiet", "--output", "json"]
    assert main([*words, "--workers", "2", "--engine", "analytic"]) == 0
    swept = capsys.readouterr().out
    assert json.loads(swept)["engine"] == "analytic"
    assert main([*words, "--workers", "1", "--engine", "analytic"]) == 0
    assert capsys.readouterr().out == swept
    with pytest.raises(Started):
        main(["--debug", *words, "--workers", "2"])


def test_a_sweep_over_engines_names_both(capsys: Capture) -> None:
    words = ["sweep", TINY, "--vary", "engine=analytic,kernel", "--workers", "1", "--quiet"]
    assert main(words) == 0
    assert " · engine analytic, kernel · " in capsys.readouterr().out.splitlines()[-1]
    assert main([*words, "--output", "csv"]) == 0
    out = capsys.readouterr().out
    assert [row["engine"] for row in csv.DictReader(io.StringIO(out))] == ["analytic", "kernel"]
    assert out.splitlines()[0].split(",").count("engine") == 1


# Before a simulation


def test_the_formulas_answer_first_and_it_is_said_how_far_apart_both_are(capsys: Capture, monkeypatch: Patch) -> None:
    calculated, simulated = (rate_of(answer(capsys, *LINE, "--engine", each)) for each in ("analytic", "kernel"))
    from oltpsim.simulator import kernel

    shown = []

    def simulate(*arguments: Any) -> Any:
        shown.append(capsys.readouterr())
        return original(*arguments)

    original = kernel.simulate
    with monkeypatch.context() as patched:
        patched.setattr(KERNEL, simulate)
        assert main(LINE) == 0
    ((none, first),) = shown
    assert not none
    assert f"new orders per minute   {calculated:,.0f}" in first
    assert "analytic: answered in " in first
    second, _ = capsys.readouterr()
    assert "'2 GiB'" in second
    assert f"new orders per minute   {simulated:,.0f}" in second
    *_, compared, again = second.splitlines()
    direction = "lower" if calculated < simulated else "higher"
    assert compared.startswith(f"analytic {calculated:,.0f} is ")
    assert f" % {direction} than simulated {simulated:,.0f}, not steady" in compared
    assert again == f"reproduce: {shlex.join(['oltpsim', *LINE])}"
    assert main([*LINE, "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert (out.replace(" --quiet", ""), err) == (second, "")


@pytest.mark.parametrize("words", [["--engine", "analytic"], ["--engine", "kernel"], ["--set", "engine=analytic"],
                                   ["--output", "csv"]])  # fmt: skip
def test_there_is_one_answer_where_one_is_asked_for(words: list[str], capsys: Capture) -> None:
    assert main([*LINE, *words, "--quiet"]) == 0
    assert " than simulated " not in capsys.readouterr().out


def test_what_is_kept_and_judged_is_the_simulation(tmp_path: Path, capsys: Capture, monkeypatch: Patch) -> None:
    kept, page = tmp_path / "kept.json", tmp_path / "page.html"
    calculated, simulated = (rate_of(answer(capsys, *LINE, "--engine", each)) for each in ("analytic", "kernel"))
    words = [*LINE, "--quiet", "--save", str(kept), "--report", str(page)]
    between = (calculated + simulated) / 2
    assert main([*words, "--target", f"{between:.12g}"]) == int(simulated < between)
    run = read_saved_run(kept)
    assert (run.result.engine, run.scenario.engine) == ("kernel", "kernel")
    assert run.result.rate_per_min.mean == simulated
    assert "<dt>Engine</dt><dd>kernel</dd>" in page.read_text(encoding="utf-8")
    assert capsys.readouterr().out.count("\nsaved: ") == 1


def test_an_interrupted_simulation_leaves_the_first_answer(capsys: Capture, monkeypatch: Patch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(KERNEL, interrupted)
    assert main(LINE) == 130
    out, err = capsys.readouterr()
    assert "new orders per minute" not in out
    assert err.count("new orders per minute") == 1
    assert "reproduce" not in out
    assert err.endswith("interrupted\n")


def test_what_formulas_cannot_answer_is_simulated(capsys: Capture, monkeypatch: Patch) -> None:
    def unable(*_: object) -> None:
        raise Infeasible("no formula for that\nnor for this")

    monkeypatch.setattr(ANALYTIC, unable)
    assert main([*LINE, "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert err == "no answer by the formulas: no formula for that; nor for this\n"
    assert out.count("new orders per minute") == 1
    assert main([*LINE, "--quiet", "--engine", "analytic"]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", "error: no formula for that\nerror: nor for this\n")


def test_a_defect_of_the_formulas_is_a_defect(capsys: Capture, monkeypatch: Patch) -> None:
    monkeypatch.setattr(ANALYTIC, lambda *_: 1 // 0)
    assert main([*LINE, "--quiet"]) == 70
    assert "ZeroDivisionError" in capsys.readouterr().err


# In explain, without a saved run


def test_a_scenario_is_explained_at_once(tmp_path: Path, capsys: Capture, monkeypatch: Patch) -> None:
    kept = str(tmp_path / "kept.json")
    cores = ["--set", "machine.cpu.cores=2"]
    assert main(["run", TINY, *cores, "--engine", "analytic", "--save", kept, "--quiet"]) == 0
    monkeypatch.setattr(KERNEL, refuse_to)
    capsys.readouterr()
    assert main(["explain", kept]) == 0
    bars = capsys.readouterr().out
    assert "calculated" not in bars.splitlines()[0]
    assert main(["explain", TINY, *cores]) == 0
    first, *others = capsys.readouterr().out.splitlines()
    assert first.startswith("calculated by the analytic engine, not simulated; ")
    assert f"oltpsim run {TINY} --set machine.cpu.cores=2 --save FILE.json" in first
    assert [line for line in others if not line.startswith("warning: ")] == bars.splitlines()
    warnings = [f"warning: {warning}" for warning in read_saved_run(Path(kept)).result.warnings]
    assert [line for line in others if line.startswith("warning: ")] == warnings
    assert main(["explain", TINY]) == 0
    assert capsys.readouterr().out.splitlines()[len(warnings) + 1 :] != bars.splitlines()
