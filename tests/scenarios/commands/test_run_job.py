"""`oltpsim run` on a scenario with a job, and the commands that are for transactions."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from oltpsim.models.jobs import run_job
from oltpsim.models.reading import load_scenario
from oltpsim.scenarios.commands.cli import main

Output = pytest.CaptureFixture[str]
TINY = Path(__file__).parents[1] / "tiny.yaml"
MEASURED = {"job_figure": 2.6, "cpu_cores_busy": 0.3, "role": "predicted", "source": "assumption: for tests"}


@pytest.fixture
def job_file(tmp_path: Path) -> Callable[..., str]:
    """`job_file(job, ...)`: a scenario file whose machine does a job."""

    def write(job: dict[str, object], **keys: object) -> str:
        path = tmp_path / "job.yaml"
        data = yaml.safe_load(TINY.read_text(encoding="utf-8")) | {"job": job} | keys
        path.write_text(yaml.safe_dump(data), encoding="utf-8")
        return str(path)

    return write


def test_a_job_is_answered_with_its_figure_its_limit_and_where_the_time_goes(
    job_file: Callable[..., str], capsys: Output
) -> None:
    path = job_file({"kind": "scan"}, measured=MEASURED)
    found = run_job(load_scenario(path))
    assert main(["run", path]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    error = 100 * (found.value / 2.6 - 1)
    assert f"{found.value:.3f} MB/s" in text
    assert f"measured by others: 2.600 MB/s ({'+' if error > 0 else '−'}{abs(error):.1f} %, predicted)" in text
    assert "measured by others: 0.30" in text
    assert found.limited_by in text
    assert "seek and rotation" in text
    for part, time_s in found.parts_s.items():
        assert (part in text) == (time_s > 0), "what takes no time is left out"


@pytest.mark.parametrize(
    "job",
    [
        {"kind": "lookups", "queries": 1, "processes": 4},
        {"kind": "mutex"},
        {"kind": "query_mix", "clients": 4, "mix_ms": 100},
    ],
    ids=lambda job: job["kind"],
)
def test_json_holds_the_whole_result(job: dict[str, object], job_file: Callable[..., str], capsys: Output) -> None:
    path = job_file(job, measured={**MEASURED, "job_figure": 1000})
    found = run_job(load_scenario(path), 7)
    assert main(["run", path, "--output", "json", "--quiet", "--seed", "7"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["format"] == "oltpsim-job-1"
    assert (data["value"], data["unit"], data["parts_s"]) == (found.value, found.unit, found.parts_s)
    assert data["measured"]["error"] == found.value / 1000 - 1
    assert main(["run", path]) == 0
    assert found.unit in capsys.readouterr().out


STORE = {
    "kind": "partitioned_store", "servers": 3, "client_machines": 2, "threads_per_jvm": 4, "update_fraction": 0.5,
    "query": {"client_us": 200, "server_us": 100}, "duration_s": 1,
    "update": {"client_us": 200, "server_us": 100, "copy_us": 100},
    "loss": {"at_s": 0.8, "detection_s": 0.2, "server_gib": 0.001, "restore_mib_per_s": 10},
}  # fmt: skip


def test_a_store_is_simulated_and_says_its_seed_and_machines(job_file: Callable[..., str], capsys: Output) -> None:
    path = job_file(STORE)
    assert main(["run", path, "--seed", "3"]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    assert "3 machines like this" in text
    assert "2 machines of clients, 8 threads" in text
    assert "simulated, seed 3: 1 s after 0.5 s of warm-up" in text
    assert "requests unaccounted for" in text
    assert main(["run", path, "--seed", "3", "--output", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["value"] == run_job(load_scenario(path), 3).value
    assert data["value"] != run_job(load_scenario(path), 4).value
    assert len(data["series"]["seconds"]) == len(data["series"]["requests/s"]) > 100
    assert data["also"]["requests unaccounted for"] == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--engine", "analytic"], "--engine: is for transactions; 'tiny' has a job: leave it out"),
        (["--replications", "2"], "--replications: is for transactions"),
        (["--report", "x.html"], "--report: is for transactions"),
        (["--save", "x.json"], "--save: is for transactions"),
        (["--target", "5"], "--target: is for transactions"),
    ],
)
def test_options_of_transactions_are_refused(
    words: list[str], sentence: str, job_file: Callable[..., str], capsys: Output
) -> None:
    assert main(["run", job_file({"kind": "mutex"}), *words]) == 2
    assert f"error: {sentence}" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["sweep", "{}", "--vary", "machine.disks.count=1,2"],
        ["explain", "{}"],
        ["system", "{}"],
        ["report", "{}", "--out", "x.html"],
        ["calibrate", "v20z-10-warehouses", "--base", "{}"],
    ],
    ids=lambda words: "-".join(words[:1] + words[2:3]),
)
def test_commands_of_transactions_say_so(words: list[str], job_file: Callable[..., str], capsys: Output) -> None:
    path = job_file({"kind": "mutex"})
    assert main([word.format(path) for word in words]) == 2
    said = capsys.readouterr().err
    why = "job: 'mutex' runs no transactions, which this command is about; 'oltpsim run' answers it"
    assert said == f"error: job.yaml: {why}\n"
