"""Every command of README and docs/ is run here as the page has it; where the page shows an answer, that is the answer.

Commands whose files are a reader's own (`mine.yaml`, `records/`, ...) find small ones of that name.
"""

import contextlib
import io
import re
import runpy
import shlex
import shutil
from pathlib import Path

import pytest

from oltpsim.scenarios.commands.cli import main

ROOT = Path(__file__).resolve().parents[1]
TINY = ROOT / "tests" / "scenarios" / "tiny.yaml"
RUNS = ROOT / "calibration" / "runs"
SAMPLES = ROOT / "tests" / "samples"
INDENTED = re.compile(r"^    (?:\$ |\.venv/bin/)?(oltpsim (?:[^\n\\]|\\\n|\\)+)$", re.MULTILINE)
PLACES = {"calibration", "docs", "models", "scenarios", "tests"}
"""of the checkout, which commands of pages name"""
NEEDS_A_CLUSTER = "--cluster"
NEEDS_A_DATABASE = "oltpsim measure "
"""run beside a server, and held against the page, in tests/scenarios/commands/test_measure.py"""
REFUSED = (
    "oltpsim run v20z --set machine.cpu.coers=8",
    'oltpsim "r6i.3xlarge"',
    'oltpsim "8 cores, 32 GB, 16 GB"',
    'oltpsim "8 cores, 32 GB, NVMe, MySQL 8.4, pgbench"',
)
"""commands whose refusal the page shows, as they begin"""


BUILD = runpy.run_path(str(ROOT / "docs" / "build.py"))
PAGES = BUILD["pages"]()


def commands(page: Path) -> list[str]:
    """Commands of the page's indented blocks, a line each."""
    text = page.read_text(encoding="utf-8")
    return [re.sub(r"\\\n\s*", "", found) for found in INDENTED.findall(text)]


def words_of(command: str) -> list[str]:
    """What the program gets of a line: without what the shell does before and after."""
    words = shlex.split(command, comments=True)[1:]
    ends = [at for at, word in enumerate(words) if word in {"|", "||", "&&", ">"}]
    return words[: ends[0]] if ends else words


PRICES = "{name: ours, date: 2026-01-05, currency: USD, term: on demand, source: ours, rows: [%s]}"
PRICE = "{part: instances/m7i.large, amount: 0.09, per: hour}"


def own_files(folder: Path) -> None:
    """A reader's own files, as small as they can be."""
    tiny = TINY.read_text(encoding="utf-8")
    for name, cores in (("old", 1), ("new", 2), ("other", 4)):
        (folder / f"{name}.yaml").write_text(tiny.replace("cores: 1", f"cores: {cores}"), encoding="utf-8")
    for name, disks in (("run", 1), ("before", 1), ("after", 2)):
        words = [
            "run",
            str(TINY),
            "-q",
            "--set",
            f"machine.disks.count={disks}",
            "--save",
            str(folder / f"{name}.json"),
        ]
        assert main(words) == 0
    base = folder / "my_machine.yaml"
    shutil.copy(ROOT / "scenarios" / "library" / "postgresql-15.yaml", base)
    bigger = base.read_text(encoding="utf-8").replace("name: ", "name: bigger ", 1)
    (folder / "bigger_machine.yaml").write_text(bigger, encoding="utf-8")
    (folder / "records").mkdir()
    shutil.copy(RUNS / "postgres15_go-tpc_in_memory.yaml", folder / "records")
    for name in ("my_machine.json", "my_v20z.json"):
        shutil.copy(ROOT / "calibration" / "published" / "model.json", folder / name)
    shutil.copytree(SAMPLES / "run_directories" / "postgres15_go-tpc_in_memory", folder / "my_run")
    summary = (SAMPLES / "pgbench" / "tpcb_summary.txt").read_text(encoding="utf-8")
    (folder / "my.log").write_text(2 * summary, encoding="utf-8")
    for name in ("ladder.csv", "ladder.yaml"):
        shutil.copy(SAMPLES / "tables" / name, folder)
    (folder / "our-runs").mkdir()
    for clients, rate in ((1, 6000), (16, 26845)):
        measured = f"measured: {{new_orders_per_minute: {rate}, role: fitted, source: ours}}"
        load = f"workload: {{arrivals: {{clients: {clients}}}}}"
        (folder / "our-runs" / f"{clients}.yaml").write_text(
            f"base: postgresql-15\n{load}\n{measured}\n", encoding="utf-8"
        )
    (folder / "fio-results").mkdir()
    for depth in (1, 4, 16):
        shutil.copy(SAMPLES / "fio" / f"fifo200.qd{depth}.json", folder / "fio-results")
    shutil.copy(RUNS / "fio" / "fio_plot.csv", folder / "my_fio.csv")
    (folder / "our-supplier.yaml").write_text(PRICES % PRICE, encoding="utf-8")


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the checkout's and with a reader's own files."""
    for name in PLACES:
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "out").mkdir()
    own_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command: str) -> tuple[int, str]:
    """Exit status and stdout."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        status = main([each for word in words_of(command) for each in matching(word)])
    return status, out.getvalue()


def matching(word: str) -> list[str]:
    """Files that a pattern stands for, as in a shell; the word itself if it is none."""
    found = sorted(str(path) for path in Path().glob(word)) if word.endswith((".json", ".yaml")) and "*" in word else []
    return found or [word]


@pytest.mark.pages
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
@pytest.mark.usefixtures("workspace")
def test_the_commands_of_a_page_run(page: Path) -> None:
    for command in commands(page):
        if NEEDS_A_CLUSTER in command or command.startswith(NEEDS_A_DATABASE):
            continue
        status, _ = run(command)
        assert (status in {0, 1}) != command.startswith(REFUSED), command


SHOWN = [page for page in PAGES if BUILD["BLOCK"].search(page.read_text(encoding="utf-8"))]


@pytest.mark.pages
@pytest.mark.parametrize("page", SHOWN, ids=lambda page: page.name)
@pytest.mark.usefixtures("workspace")
def test_a_page_shows_what_its_commands_print(page: Path) -> None:
    for _, command, shown, _ in BUILD["BLOCK"].findall(page.read_text(encoding="utf-8")):
        status, out = run(command)
        assert status in {0, 1}, command
        printed = "\n".join(line.rstrip() for line in out.rstrip().splitlines()) + "\n"
        assert lasting(printed) == lasting(shown), f"{command}: run docs/build.py {page.relative_to(ROOT)}"


def lasting(text: str) -> str:
    """Without ages of price lists, which grow, and names of fits and of code, which change with every line of it."""
    named = re.sub(r"\b(fit|model)\s+[0-9a-f]{20}\b", r"\1 NAME", text)
    return re.sub(r"\d+ years old", "N years old", named)


@pytest.mark.usefixtures("workspace")
def test_a_command_that_would_not_run_is_found(workspace: Path) -> None:
    page = workspace / "page.md"
    page.write_text(
        "Text.\n\n    oltpsim run none.yaml\n    $ oltpsim run v20z \\\n        --sve x   # kept\n\nMore.\n"
    )
    assert commands(page) == ["oltpsim run none.yaml", "oltpsim run v20z --sve x   # kept"]
    assert words_of(commands(page)[1]) == ["run", "v20z", "--sve", "x"]
    assert [run(command)[0] for command in commands(page)] == [2, 2]


@pytest.mark.parametrize("page", SHOWN, ids=lambda page: page.name)
def test_a_shown_answer_begins_with_its_command(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    asked = BUILD["RUN"].findall(text)
    assert unseen(text) == []
    assert len(BUILD["BLOCK"].findall(text)) == len(asked)
    assert unseen(text.replace(f"$ {asked[0]}\n", "")) == asked[:1]


def unseen(text: str) -> list[str]:
    """Commands of a page's comments that no reader of the page sees."""
    return [command for command in BUILD["RUN"].findall(text) if f"```text\n$ {command}\n" not in text]


def test_every_page_is_looked_at() -> None:
    assert len(SHOWN) >= 8
    assert sum(len(commands(page)) for page in PAGES) >= 40
