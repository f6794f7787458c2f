"""A job's result as text and JSON: its figure beside a measured one, and where the time goes."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from oltpsim.models.jobs import JobResult
from oltpsim.models.reading import scenario_from_mapping
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.library import read_scenario_file
from oltpsim.scenarios.show.job import job_json, job_text

TINY = Path(__file__).parents[1] / "tiny.yaml"
RESULT = JobResult(
    kind="scan",
    figure="scan rate",
    value=12.3456,
    unit="MB/s",
    cpu_cores_busy=0.25,
    seconds=80.0,
    limited_by="disk",
    parts_of="the scan of a page",
    parts_s={"seek and rotation": 0.006, "transfer": 0.002, "waiting for the scanning thread": 0.0},
    also={"pages": 1_234_567, "pages per request": 2.5},
)
MEASURED = {"job_figure": 10.0, "cpu_cores_busy": 0.3, "role": "predicted", "source": "assumption: for tests"}
STORE = {
    "kind": "partitioned_store", "servers": 3, "client_machines": 2, "threads_per_jvm": 4, "update_fraction": 0.5,
    "query": {"client_us": 200, "server_us": 100}, "duration_s": 1,
    "update": {"client_us": 200, "server_us": 100, "copy_us": 100},
}  # fmt: skip


def scenario(job: dict[str, Any], **keys: object) -> ScenarioSpec:
    return scenario_from_mapping(read_scenario_file(TINY) | {"job": job} | keys, "job.yaml")


def test_the_text_has_figure_limit_and_parts() -> None:
    text = job_text(RESULT, scenario({"kind": "scan"}))
    assert "12.35 MB/s" in text
    assert "limited by" in text
    assert "0.25 of " in text
    assert [line.split("  ")[-1].strip() for line in text.splitlines() if line.startswith("    ")] == ["75 %", "25 %"]
    assert "1,234,567" in text, "counts whole, others with four digits"
    assert "2.500" in text
    assert text.endswith(f"  {RESULT.basis}\n")


def test_what_takes_no_time_or_was_not_measured_is_left_out() -> None:
    text = job_text(RESULT, scenario({"kind": "scan"}))
    assert "scanning thread" not in text
    assert "measured" not in text


@pytest.mark.parametrize(("value", "error"), [(12.0, "+20 %"), (8.0, "−20 %")])
def test_a_measured_figure_stands_beside_with_the_error(value: float, error: str) -> None:
    spec = scenario({"kind": "scan"}, measured=MEASURED)
    text = job_text(replace(RESULT, value=value), spec, width=200)
    assert f"measured by others: 10.00 MB/s ({error}, predicted)" in text
    assert "measured by others: 0.30" in text
    assert json.loads(job_json(replace(RESULT, value=value), spec))["measured"]["error"] == value / 10.0 - 1.0


@pytest.mark.parametrize("width", [60, 80, 120])
def test_lines_fit_the_width(width: int) -> None:
    long = replace(RESULT, basis="simulated, seed 1: 95,017 pages, those of 10 of 40 warehouses; times 4" * 2)
    for result in (RESULT, long):
        text = job_text(result, scenario({"kind": "scan"}, measured=MEASURED), width)
        assert max(map(len, text.splitlines())) <= width


def test_the_size_of_the_data_is_named_where_the_job_has_one() -> None:
    assert "1 warehouse" in job_text(RESULT, scenario({"kind": "scan"}), width=200)
    assert "1 warehouse" not in job_text(RESULT, scenario({"kind": "mutex"}), width=200)
    store = job_text(RESULT, scenario(STORE), width=200)
    assert "3 machines like this" in store
    assert "2 machines of clients" in store


def test_json_holds_the_whole_result_and_no_measured_one_where_there_is_none() -> None:
    data = json.loads(job_json(RESULT, scenario({"kind": "scan"})))
    assert data["format"] == "oltpsim-job-1"
    assert {key: data[key] for key in asdict(RESULT)} == asdict(RESULT)
    assert data["measured"] is None
