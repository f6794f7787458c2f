"""What background jobs leave: confirmed runs, plans, records and calibrations."""

import io
from pathlib import Path

import pytest

from oltpsim.scenarios.page.drawing import read_exhibit
from oltpsim.scenarios.page.question import PageQuestion
from oltpsim.scenarios.page.uploads import save_upload
from oltpsim.scenarios.page.work import calibrate_runs, confirm, find_machines, recognise
from oltpsim.scenarios.run import read_saved_run
from oltpsim.simulator.errors import InputError
from tests.scenarios.page.test_uploads import zipped

SAMPLES = Path(__file__).parents[2] / "samples" / "run_directories"


def uploaded(folder: Path, files: dict[str, bytes]) -> Path:
    return folder / save_upload(folder, [("run.zip", zipped(files))])


def sample(name: str) -> dict[str, bytes]:
    return {f"{name}/{each.name}": each.read_bytes() for each in (SAMPLES / name).iterdir()}


def test_a_confirmed_run_is_the_kernels_of_the_question(tmp_path: Path) -> None:
    question = PageQuestion("postgresql-15", (("machine.memory_gib", 12.0),))
    confirm(question, None, tmp_path / "below" / "run.json")
    run = read_saved_run(tmp_path / "below" / "run.json")
    assert run.result.engine == "kernel"
    assert run.scenario.machine.memory_gib == 12.0
    assert run.result.rate_per_min.mean == pytest.approx(27_000, rel=0.1)


@pytest.mark.slow
def test_a_plan_has_its_frontier_and_why_machines_were_rejected(tmp_path: Path) -> None:
    find_machines(PageQuestion("postgresql-15"), None, 30_000.0, "50 ms", "20 GiB", tmp_path / "plan.json")
    found = read_exhibit(tmp_path / "plan.json")
    assert found is not None
    drawings = {each.key: each for each in found.drawings}
    hover = str(drawings["cost"].figure["data"] if "cost" in drawings else found.drawings[0].figure["data"])
    assert "would be" in hover or "takes" in hover
    assert "oltpsim plan" in (tmp_path / "plan.html").read_text(encoding="utf-8")


def test_a_run_directory_is_recognised_file_by_file(tmp_path: Path) -> None:
    upload = uploaded(tmp_path, sample("postgres15_go-tpc_in_memory"))
    recognise(upload)
    found = read_exhibit(upload / "recognised.json")
    assert found is not None
    assert "go-tpc" in found.text
    assert len(list((upload / "records").iterdir())) == 1


BOMB = b"format: oltpsim-run-1\n" + b"".join(
    f"k{n}: &k{n} [{', '.join(f'*k{n - 1}' for _ in range(9)) if n else '1'}]\n".encode() for n in range(9)
)
UNREADABLE = {
    "yaml bomb": {"a.yaml": BOMB},
    "python in yaml": {"a.yaml": b"!!python/object/apply:os.system ['touch /tmp/x']"},
    "another file as base": {"a.yaml": b"base: /etc/passwd\nmeasured: {rate_per_min: 5}\n"},
    "nothing known": {"a.txt": b"hello"},
    "zeros": {"a.log": bytes(100_000)},
    "deep json": {"a.json": b"[" * 100_000},
    "damaged report": {"report.json": b'{"format": "hammerdb-job-report-v1"'},
}


@pytest.mark.parametrize("files", UNREADABLE.values(), ids=list(UNREADABLE))
def test_what_is_no_run_is_refused_in_words(files: dict[str, bytes], tmp_path: Path) -> None:
    upload = uploaded(tmp_path, files)
    with pytest.raises(InputError) as refused:
        recognise(upload)
    assert "root:" not in str(refused.value)
    assert not (upload / "recognised.json").exists()


def test_an_upload_without_records_cant_be_calibrated(tmp_path: Path) -> None:
    upload = tmp_path / save_upload(tmp_path, [("x", io.BytesIO(b"x"))])
    with pytest.raises(FileNotFoundError):
        calibrate_runs(upload, PageQuestion("postgresql-15"), tmp_path / "c.json")
