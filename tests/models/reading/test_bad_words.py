"""Command lines that somebody got wrong: options, overrides, saved runs, places to write to, answers to quick."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from oltpsim.models.reading import scenario_from_mapping
from oltpsim.scenarios.commands.cli import main
from oltpsim.scenarios.run import SavedRun, write_saved_run
from tests.scenarios.example_result import example_result

TINY = str(Path(__file__).resolve().parents[2] / "scenarios" / "tiny.yaml")
Refused = Callable[..., list[str]]
Accepted = Callable[..., None]
Write = Callable[..., str]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["frobnicate"], "oltpsim: no such command 'frobnicate'; 'oltpsim --help' says what is allowed"),
        (["runn", TINY], "no such command 'runn'. Did you mean 'run', 'runs'?"),
        (["catalog", "chekc"], "oltpsim catalog: no such command 'chekc'. Did you mean 'check'?"),
        (["run"], "oltpsim run: missing argument 'SYSTEM'"),
        (["run", TINY, "--sead", "3"], "oltpsim run: no such option: --sead"),
        (["run", TINY, "another"], "unexpected extra argument"),
        (["run", TINY, "--seed"], "option '--seed' requires an argument"),
        (["run", TINY, "--seed", "-1"], "--seed: got '-1'; must be greater than or equal to 0"),
        (["run", TINY, "--seed", "one"], "--seed: got 'one'; must be a whole number"),
        (["run", TINY, "--seed", "1.5"], "--seed: got '1.5'; must be a whole number"),
        (["run", TINY, "--seed", "1" + "0" * 30], "must be less than or equal to 9223372036854775807"),
        (["run", TINY, "--replications", "0"], "--replications: got '0'; must be greater than or equal to 1"),
        (["run", TINY, "--replications", "1000000"], "must be less than or equal to 10000"),
        (["run", TINY, "--workers", "0"], "--workers: got '0'; must be greater than or equal to 1"),
        (["run", TINY, "--workers", "many"], "--workers: got 'many'; must be a whole number"),
        (["run", TINY, "--target", "many"], "--target: got 'many'; must be a number"),
        (["run", TINY, "--target", "nan"], "'--target': got nan; must be a number above 0"),
        (["run", TINY, "--target", "inf"], "'--target': got inf; must be a number above 0"),
        (["run", TINY, "--target", "0"], "'--target': got 0; must be a number above 0"),
        (["run", TINY, "--output", "xml"], "--output: got 'xml'; 'xml' is not one of 'table', 'json', 'csv'"),
        (["report", TINY], "missing option '--out'"),
        (["explain", TINY, "--set", "engine=kernel"], "a scenario is explained by the analytic engine; for another: "),
        (["explain", "x.json", "--set", "a.b=1"], "a saved run can't be changed; --set goes with a scenario"),
        (["catalog", "list", "disk"], "unknown kind 'disk' (did you mean 'disks'?); known: machines, "),
        (["catalog", "show", "disk", "nvme"], "unknown kind 'disk' (did you mean 'disks'?)"),
        (["catalog", "show", "disks", "nvm"], "unknown name 'nvm' in the catalogue of disks (did you mean 'nvme'?)"),
        (["catalog", "show", "disks", "../cpus/xeon-5130"], "unknown name '../cpus/xeon-5130'"),
    ],
)
def test_wrong_words(words: list[str], sentence: str, refused: Refused) -> None:
    (line,) = refused(*words)
    assert sentence in line


def test_right_words_are_accepted(accepted: Accepted) -> None:
    accepted("run", TINY, "--seed", "3", "--replications", "1", "--workers", "1", "--target", "1e4", "-o", "csv", "-q")


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("machine.cpu.cores", "--set machine.cpu.cores: expected key.path=value, for example database.pool.buff"),
        ("=2", "expected key.path=value"),
        ("machine..cores=2", "--set machine..cores=2: a key is empty"),
        ("machin.cpu.cores=2", "machin: unknown key (did you mean 'machine'?); allowed: "),
        ("machine.cqu.cores=2", "machine.cqu: unknown key (did you mean 'cpu'?); allowed: "),
        ("machine.cpu.coers=2", "machine.cpu.coers: unknown key (did you mean 'cores' or 'quota_cores'?); allowed: "),
        ("name.first=x", "'first' is below 'tiny', which has no keys"),
        ("machine.cpu.cores.x.y=2", "'x' is below 1, which has no keys"),
        ("machine.cpu.cores=two", "with --set machine.cpu.cores=two: machine.cpu.cores: got 'two'; must be a whole"),
        ("machine.cpu.cores=", "machine.cpu.cores: got nothing; must be a whole number"),
        ("machine.cpu.cores=true", "machine.cpu.cores: got true; must be a number, not true or false"),
        ("machine.cpu.cores=[2", "--set machine.cpu.cores=[2: unreadable YAML at line 1"),
        ("machine.cpu.cores=*x", "anchors and aliases (& and *) are not allowed"),
        ("machine.cpu=xeon-5310", "machine.cpu: unknown name 'xeon-5310' in the catalogue of cpus (did you mean 'xeon"),
        ("machine.memory_gib=8 s", "'s' is a unit of time, expected memory in one of B, kB"),
        ("database.pool.buffers=1e6", "take 8.58 GiB; 0.842 of 1 GiB are free and swap has 1: at most 214630 buffers"),
        ("interval.duration_s=60 days", "unknown unit 'days'; known for time: ns, us, ms, s, min, h, d"),
        ("interval.duration_s=60 d", "must be at most 2.592e+06 s; is the unit right?"),
        ("interval.duration_s=20 d", "got '20 d'; must be less than or equal to 864000"),
    ],
)
def test_wrong_overrides(setting: str, sentence: str, refused: Refused) -> None:
    (line,) = refused("run", TINY, "--set", setting)
    assert sentence in line


@pytest.mark.parametrize("setting", ["machine.cpu.cores=2", "machine.cpu=xeon-5130", "machine.memory_gib=8 GiB"])
def test_right_overrides_are_accepted(setting: str, accepted: Accepted) -> None:
    accepted("run", TINY, "--set", setting, "--quiet")


@pytest.mark.parametrize(
    ("axis", "sentence"),
    [
        ("machine.cpu.cores", "expected key=a,b,c or key=start:stop:step"),
        ("machine.cpu.cores=", "expected key=a,b,c or key=start:stop:step"),
        ("machine.cpu.cores=1,,2", "every value must be there once"),
        ("machine.cpu.cores=4:1:1", "step must be above 0 and stop not below start"),
        ("machine.cpu.cores=1:4:-1", "step must be above 0 and stop not below start"),
        ("machine.cpu.cores=1:nan:1", "step must be above 0 and stop not below start"),
        ("machine.cpu.cores=a:b:c", "start, stop and step must be numbers"),
        ("machine.cpu.cores=1:1e9:1", "more than 10,000 values"),
        ("machine.cpu.coers=1,2", "unknown key (did you mean 'cores' or 'quota_cores'?)"),
        ("machine.cpu.cores=0,-1", "got 0; must be greater than or equal to 1"),
    ],
)
def test_wrong_axes(axis: str, sentence: str, refused: Refused) -> None:
    (line,) = refused("sweep", TINY, "--vary", axis)
    assert sentence in line


def test_wrong_grids(refused: Refused, tmp_path: Path) -> None:
    assert "missing option '--vary'" in refused("sweep", TINY)[0]
    (line,) = refused("sweep", TINY, "--vary", "machine.cpu.cores=1,2", "--vary", "machine.cpu.cores=3,4")
    assert "--vary machine.cpu.cores: stands twice" in line
    wide = ["--vary", "machine.cpu.cores=1:200:1", "--vary", "database.pool.buffers=1000:2000:10"]
    assert "more than 10,000" in refused("sweep", TINY, *wide)[0]
    (line,) = refused("sweep", TINY, "--vary", "machine.cpu.cores=1,2", "--picture", str(tmp_path / "x.gif"))
    assert "the name must end in .svg, .png, .pdf or .html" in line
    (line,) = refused("sweep", TINY, "--vary", "machine.cpu.cores=1,2", "--save", str(tmp_path))
    assert "is a folder; give the name of a file" in line


def test_a_right_axis_is_accepted(accepted: Accepted) -> None:
    accepted("sweep", TINY, "--vary", "machine.cpu.cores=1,2", "--workers", "1", "--quiet")


@pytest.fixture(scope="module")
def saved_run(tiny: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> str:
    """The text of a saved run."""
    path = tmp_path_factory.mktemp("saved") / "run.json"
    write_saved_run(path, SavedRun(scenario_from_mapping(tiny, "tiny"), example_result()))
    return path.read_text(encoding="utf-8")


BROKEN_SAVED_RUNS: list[tuple[Callable[[str], str], str]] = [
    (lambda _: "", "it is not JSON"),
    (lambda text: text[: len(text) // 2], "it is not JSON"),
    (lambda _: "[" * 200_000, "it is not JSON"),
    (lambda _: "[]", "format: got nothing, expected 'oltpsim-saved-1'"),
    (lambda _: "{}", "format: got nothing, expected 'oltpsim-saved-1'"),
    (lambda text: text.replace("oltpsim-saved-1", "oltpsim-saved-0"), "format: got 'oltpsim-saved-0', expected"),
    (lambda text: json.dumps(json.loads(text)["result"]), "format: got 'oltpsim-result-1', expected"),
    (lambda text: json.dumps({**json.loads(text), "format": ["x"]}), "format: got ['x'], expected"),
    (lambda _: '{"format": "oltpsim-saved-1"}', "not a whole saved run: result and scenario missing"),
    (lambda text: json.dumps({**json.loads(text), "scenario": []}), "got []; expected keys with values"),
    (lambda text: json.dumps({**json.loads(text), "result": 5}), "result: not a result of this program"),
    (lambda text: text.replace('"seed": ', '"seeds": '), "missing keys seed; unknown keys seeds"),
    (lambda text: text.replace('"duration_s": ', '"duration_s": NaN, "x": ', 1), "NaN is not a number"),
]


@pytest.mark.parametrize("command", ["report", "explain"])
@pytest.mark.parametrize(("broken", "sentence"), BROKEN_SAVED_RUNS)
def test_what_is_no_saved_run(
    command: str, broken: Callable[[str], str], sentence: str, saved_run: str, scenario_file: Write, refused: Refused
) -> None:
    path = scenario_file(broken(saved_run), "run.json")
    out = ["--out", str(Path(path).with_name("page.html"))] if command == "report" else []
    (line,) = refused(command, path, *out)
    assert "run.json: " in line
    assert sentence in line
    assert not Path(path).with_name("page.html").exists()


def test_files_that_hold_no_saved_run(tmp_path: Path, scenario_file: Write, refused: Refused) -> None:
    (line,) = refused("explain", str(tmp_path / "none.json"))
    assert "none.json: cannot be read: No such file or directory; make one with 'oltpsim run" in line
    (tmp_path / "folder.json").mkdir()
    assert "cannot be read: Is a directory" in refused("explain", str(tmp_path / "folder.json"))[0]
    assert "it is not JSON" in refused("explain", scenario_file(b"\xff\xfe\x00", "binary.json"))[0]


def test_a_saved_run_is_accepted(saved_run: str, scenario_file: Write) -> None:
    assert main(["explain", scenario_file(saved_run, "run.json")]) == 0


@pytest.mark.parametrize("option", ["--report", "--save"])
def test_places_that_cannot_be_written_to(option: str, tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "file").write_text("")
    (line,) = refused("run", TINY, option, str(tmp_path / "file" / "x"))
    assert "is a file, not a folder; give another place" in line
    (line,) = refused("run", TINY, option, str(tmp_path))
    assert "is a folder; give the name of a file" in line


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="only Linux has folders that even root can't make")
@pytest.mark.parametrize("option", ["--report", "--save"])
def test_folders_that_cannot_be_made(option: str, refused: Refused) -> None:
    (line,) = refused("run", TINY, option, "/proc/none/x")
    assert "/proc/none/x: the folder cannot be made: No such file or directory; give another place" in line


def test_a_folder_that_is_missing_is_made(tmp_path: Path, accepted: Accepted) -> None:
    accepted("run", TINY, "--save", str(tmp_path / "a" / "b" / "run.json"), "--quiet")
    assert (tmp_path / "a" / "b").is_dir()
