"""Scenario files: found by path or by name, over the `base` that they name, for transactions unless a job is wanted."""

from pathlib import Path

import pytest

from oltpsim.scenarios.library import (
    asked_scenario,
    description_loader,
    is_line,
    library_files,
    load_scenario_file,
    read_scenario_file,
    scenario_from_keys,
    scenario_loader,
    scenario_path,
)
from oltpsim.scenarios.library.files import shelves
from oltpsim.simulator.errors import InputError

TINY = Path(__file__).parents[1] / "tiny.yaml"


def test_the_library_has_files_by_their_names() -> None:
    files = library_files()
    assert {"v20z", "million-orders"} <= set(files)
    assert all(path.is_file() and path.suffix == ".yaml" for path in files.values())
    assert any("/" in name for name in files), "folders of scenarios are part of the names"


def test_a_path_goes_before_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert scenario_path("v20z") == library_files()["v20z"]
    monkeypatch.chdir(tmp_path)
    Path("v20z").write_text(TINY.read_text(encoding="utf-8"), encoding="utf-8")
    assert scenario_path("v20z") == Path("v20z")
    assert load_scenario_file(scenario_path("v20z")).name == "tiny"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("v20", "v20: no such file or scenario of the library (did you mean 'v20z'"),
        (".", ".: is a folder; give a scenario file"),
        ("/dev/null", "/dev/null: is no plain file; give a scenario file"),
    ],
)
def test_what_is_no_scenario_file_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        scenario_path(text)
    assert str(caught.value).startswith(sentence)


def test_a_folder_of_scenarios_is_listed_once() -> None:
    assert shelves(["v20z", "machines/a", "machines/b", "tiny"]) == ["v20z", "machines/...", "tiny"]
    assert shelves([]) == []


def test_a_base_may_be_of_the_library_and_is_overridden(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("base: v20z\nname: mine\nworkload: {warehouses: 7}\n", encoding="utf-8")
    mine = load_scenario_file(path)
    v20z = load_scenario_file(library_files()["v20z"])
    assert (mine.name, mine.workload.warehouses) == ("mine", 7)
    assert mine.machine == v20z.machine
    assert mine.workload.mix == v20z.workload.mix
    path.write_text("base: v20\nname: mine\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"mine.yaml: base: no such file: .*\(did you mean 'v20z'"):
        read_scenario_file(path)


def test_keys_read_once_serve_many_overrides() -> None:
    keys = read_scenario_file(TINY)
    machines = [scenario_from_keys(keys, "tiny.yaml", [f"machine.cpu.cores={cores}"]) for cores in (2, 4)]
    assert [each.machine.cpu.cores for each in machines] == [2, 4]
    assert keys == read_scenario_file(TINY)


def test_a_job_is_only_for_commands_that_want_one(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_text(TINY.read_text(encoding="utf-8") + "job: {kind: mutex}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"job.yaml: job: 'mutex' runs no transactions"):
        load_scenario_file(path)
    job = load_scenario_file(path, jobs=True).job
    assert job is not None
    assert job.kind == "mutex"


def test_a_line_is_a_scenario_with_what_it_leaves_open() -> None:
    asked = asked_scenario("8 cores, 32 GB, SSD", ["workload.warehouses=40"])
    assert asked.description is not None
    assert (asked.scenario.machine.memory_gib, asked.scenario.workload.warehouses) == (32, 40)
    assert asked_scenario("v20z").description is None
    assert scenario_loader("8 cores, 32 GB, SSD")(["machine.memory_gib=16"]).machine.memory_gib == 16
    [described] = [description_loader("r6i.2xlarge")(["workload.warehouses=40"])]
    assert described is not None
    assert described.scenario.workload.warehouses == 40
    assert description_loader("v20z")([]) is None


def test_words_are_lines_only_where_nothing_else_has_their_name(tmp_path: Path) -> None:
    file = tmp_path / "two words"
    file.write_text("", encoding="utf-8")
    assert is_line("8 cores, 32 GB")
    assert is_line("r6i.2xlarge")
    assert not any(is_line(word) for word in ("v20z", "v20", "no such.yaml", str(file)))
    with pytest.raises(InputError, match=r"'r6i\.3xlarge': not in the catalogue; nearest r6i\.2xlarge"):
        asked_scenario("r6i.3xlarge")
    with pytest.raises(InputError, match="runs no transactions"):
        asked_scenario("SunFire V20z, serial read")
