"""`oltpsim measure` beside a real PostgreSQL and pgbench, and what it says where something is missing."""

import json
import os
import platform
import re
import shlex
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from oltpsim.calibration.records import RunRecord, load_record
from tests.postgresql_server import PASSWORD, PORT, Server, programs, running_server
from tests.scenarios.commands.conftest import Call

pytest.importorskip("psycopg")
ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = programs()
with_server = pytest.mark.skipif(
    PROGRAMS is None and os.environ.get("CI") != "true", reason="needs Debian's package postgresql"
)
CODE = "import sys; from oltpsim.scenarios.commands.cli import main; sys.exit(main())"
DONE = {0, 1}
"""exit status: beside other work some seconds of load may well break a law, such as a steady rate"""
LOADED = "select count(*) from pg_stat_activity where application_name = 'pgbench'"
LOAD = ("pgbench", "-n", "-c", "2", "-P", "2", "-T")


@pytest.fixture(scope="module")
def started() -> Iterator[Server]:
    assert PROGRAMS, "Debian's package postgresql is missing"
    with running_server(PROGRAMS) as server:
        yield server


@pytest.fixture
def server(started: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    for name, value in started.environment.items():
        monkeypatch.setenv(name, value)
    return started


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    """The program on its own, so that it can be interrupted or killed."""
    command = [sys.executable, "-c", CODE, "measure", "-o", str(folder), *words]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(happened: Callable[[], bool]) -> None:
    for _ in range(3000):
        if happened():
            return
        time.sleep(0.02)
    raise AssertionError("it didn't happen")


def samples(folder: Path) -> int:
    path = folder / "series.jsonl"
    return path.read_text().count('"cpu"') if path.exists() else 0


def record_in(folder: Path) -> RunRecord:
    return load_record(folder / "record.yaml")


@with_server
@pytest.mark.slow
def test_a_measured_run_is_imported_calibrated_and_predicted(server: Server, call: Call, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    status, out, err = call("measure", "-o", folder, "--", *LOAD, "10")
    assert status in DONE, err
    assert "measured series: " in out
    assert "pgbench summary: " in out
    assert "progress: 2.0 s" in err
    record = record_in(folder)
    resources = record.resources
    for figure in (
        resources.cpu_user_fraction,
        resources.buffer_hits_per_s,
        resources.log_bytes_per_s,
        resources.commits_per_s,
        resources.log_flushes_per_s,
        record.environment.cores,
        record.environment.memory_gib,
        record.engine.buffer_pool_gib,
        record.outcome.transactions_per_s,
    ):
        assert figure is not None
    assert record.outcome.transactions_per_s
    assert resources.commits_per_s
    ratio = resources.commits_per_s.value / record.outcome.transactions_per_s.value
    assert 0.8 < ratio < 1.2
    cores = {
        name: sum(each.value for each in (group.cpu_user_cores, group.cpu_system_cores) if each)
        for name, group in resources.process_groups.items()
    }
    assert cores["database"] > 0
    assert cores["driver"] > 0
    assert cores["sampler"] < 0.1 * (cores["database"] + cores["driver"])  # of their work, not of a time
    assert not [path.name for path in folder.rglob("*") if PASSWORD.encode() in path.read_bytes()]
    assert PASSWORD not in out + err

    assert call("import", folder)[0] in DONE
    model = tmp_path / "model.json"
    scope = ("--confirm", 0, "--vary", "database.path.row_operation_us=1..500", "-q")
    status, out, err = call("calibrate", folder / "record.yaml", "--base", "postgresql-15", *scope, "--save", model)
    assert status == 0, err
    status, out, err = call("run", "postgresql-15", "--model", model, "--engine", "analytic", "-q")
    assert status == 0, err
    assert "new orders per minute" in out


@with_server
def test_a_database_with_its_own_load_is_attached_to(server: Server, call: Call, tmp_path: Path) -> None:
    server.query("alter system set primary_conninfo = 'host=127.0.0.1 password=hunter2'")
    server.query("select pg_reload_conf()")
    wait_for(lambda: "hunter2" in server.query("show primary_conninfo"))
    load = subprocess.Popen([*LOAD, "60"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        status, out, err = call("measure", "-o", tmp_path / "run", "--attach", 3, "--every", 0.25)
    finally:
        load.terminate()
        load.wait()
    assert status in DONE, err
    outcome = record_in(tmp_path / "run").outcome
    assert outcome.transactions_per_s
    assert outcome.transactions_per_s.value > 10
    assert "rate: commits per s" in out
    settings = (tmp_path / "run" / "pg_settings.csv").read_text()
    assert "shared_buffers" in settings
    assert "server_version," in settings
    assert "hunter2" not in settings


@with_server
def test_what_a_kill_leaves_is_imported(server: Server, call: Call, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    measuring = start(folder, "--every", "0.1", "--", *LOAD, "300")
    wait_for(lambda: samples(folder) > 15)
    measuring.kill()
    measuring.communicate()
    wait_for(lambda: server.query(LOADED).strip() == "0")  # the load generator has ended with it
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    status, out, err = call("import", folder)
    assert status in DONE, err
    assert "the measurement was ended before its end" in out
    assert "commits per s" in out


@with_server
def test_ctrl_c_ends_the_load_gently_and_keeps_what_there_is(server: Server, call: Call, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    measuring = start(folder, "--every", "0.1", "--", *LOAD, "300")
    wait_for(lambda: samples(folder) > 15)
    measuring.send_signal(signal.SIGINT)
    _, err = measuring.communicate(timeout=60)
    assert measuring.returncode == 130, err
    assert f"stopped; {folder} holds what was measured until then" in err
    wait_for(lambda: server.query(LOADED).strip() == "0")
    assert record_in(folder).outcome.transactions_per_s


@with_server
def test_a_load_that_fails_is_status_1_or_a_sentence(server: Server, call: Call, tmp_path: Path) -> None:
    status, _, err = call("measure", "-o", tmp_path / "run", "--every", 0.2, "--", "pgbench", "--no-such-option")
    assert status in {1, 2}
    assert "the load generator ended with status 1" in err
    assert not (tmp_path / "run" / "harness.log").exists()


@with_server
def test_a_view_that_may_not_be_read_is_said_and_the_rest_recorded(server: Server, call: Call, tmp_path: Path) -> None:
    known = server.query("select relname from pg_class where relname in ('pg_stat_wal', 'pg_stat_io')").split()
    views = ", ".join(known)
    server.query(f"revoke select on {views} from public")  # noqa: S608 - names of views
    server.query(f"create role plain login password '{PASSWORD}'")
    os.environ["PGUSER"] = "plain"
    server.password_file.write_text(f"*:*:*:*:{PASSWORD}\n")
    try:
        _, _, err = call("measure", "-o", tmp_path / "run", "--attach", 2, "--every", 0.2)
    finally:
        os.environ["PGUSER"] = "bench"
        server.query(f"grant select on {views} to public")
    assert "log flushes not recorded: " in err
    assert "permission denied for view pg_stat_" in err
    assert "; GRANT pg_monitor TO this role" in err
    assert "data_directory: not shown to this role" in err
    line = json.loads((tmp_path / "run" / "series.jsonl").read_text().splitlines()[-2])
    assert {"commits", "buffer_hits", "log_bytes"} <= line["database"].keys()


@with_server
def test_a_wrong_password_is_a_sentence_without_it(server: Server, call: Call, tmp_path: Path) -> None:
    wrong = tmp_path / "pgpass"
    wrong.write_text("*:*:*:*:quite-another-word\n")
    wrong.chmod(0o600)
    os.environ["PGPASSFILE"] = str(wrong)
    status, out, err = call("measure", "-o", tmp_path / "run", "--attach", 2)
    os.environ["PGPASSFILE"] = str(server.password_file)
    assert (status, out) == (2, "")
    assert 'password authentication failed for user "bench"' in err
    assert "the password in PGPASSFILE; or --database none" in err
    assert "quite-another-word" not in err
    assert not (tmp_path / "run").exists()


def test_no_database_is_a_sentence(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGHOST", str(tmp_path))
    monkeypatch.setenv("PGPORT", str(PORT))
    status, out, err = call("measure", "-o", tmp_path / "run", "--attach", 2)
    assert (status, out) == (2, "")
    assert "error: measure: PostgreSQL: connection " in err
    assert "set PGHOST, PGPORT, PGUSER, PGDATABASE or PGSERVICE" in err


def test_a_load_without_its_database_is_the_harness_s_rate(call: Call, tmp_path: Path) -> None:
    """No counters of a database: the machine's, and the load generator's result."""
    log = ROOT / "tests" / "samples" / "pgbench" / "tpcb_summary.txt"
    script = f"import time; time.sleep(1); print(open({str(log)!r}).read())"
    words = ("--database", "none", "--every", 0.2, "-q", "--", sys.executable, "-c", script)
    status, _, err = call("measure", "-o", tmp_path / "run", *words)
    assert status in DONE, err
    record = record_in(tmp_path / "run")
    assert record.resources.cpu_user_fraction
    assert record.resources.commits_per_s is None
    assert set(record.resources.process_groups) <= {"driver", "sampler"}


def test_a_load_of_which_nothing_is_known_is_a_sentence(call: Call, tmp_path: Path) -> None:
    words = ("--database", "none", "--every", 0.2, "--", sys.executable, "-c", "import time; time.sleep(1); print(1)")
    status, out, err = call("measure", "-o", tmp_path / "run", *words)
    assert (status, out) == (2, "")
    assert "holds what was measured, but no rate" in err


def test_mysql_is_read_by_its_client(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that answers with a sample's text, and with the names that it was asked for, stands for the server."""
    samples_of_mysql = ROOT / "tests" / "samples" / "mysql"
    client = tmp_path / "bin" / "mariadb"
    client.parent.mkdir()
    client.write_text(
        f'#!/bin/sh\ncase "$2" in *STATUS*) cat {samples_of_mysql}/status.before.tsv;; '
        f'*) echo "$2" > {tmp_path}/asked; '
        "printf 'Variable_name\\tValue\\ninnodb_buffer_pool_size\\t1073741824\\n';; esac\n"
    )
    client.chmod(0o755)
    monkeypatch.setenv("PATH", f"{client.parent}:{os.environ['PATH']}")
    words = ("--database", "mysql", "--every", 0.2, "--attach", 2)
    status, _, err = call("measure", "-o", tmp_path / "run", *words)
    assert status == 2
    assert "holds what was measured, but no rate" in err
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert {"mysql_status.start.txt", "mysql_status.end.txt", "mysql_variables.txt"} <= names
    asked = re.compile((tmp_path / "asked").read_text().split("REGEXP '")[1].rstrip("'\n"))
    assert all(map(asked.match, ("innodb_redo_log_capacity", "sync_binlog", "max_connections", "version_comment")))
    assert not any(map(asked.match, ("report_password", "wsrep_sst_auth", "init_connect", "ssl_key", "report_host")))
    client.write_text("#!/bin/sh\necho 'ERROR 1045 (28000): Access denied' >&2\nexit 1\n")
    status, _, err = call("measure", "-o", tmp_path / "second", *words)
    assert status == 2
    assert "measure: MySQL: ERROR 1045 (28000): Access denied; put user, password and socket into" in err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "got neither of --attach SECONDS and -- COMMAND; expected one of them"),
        (("--attach", "5", "--", "true"), "got both of --attach SECONDS and -- COMMAND; expected one of them"),
        (("--attach", "1"), "--attach"),
        (("--database", "none", "--", "no-such-program"), "no-such-program: can't be started"),
    ],
)
def test_wrong_words_are_refused(call: Call, tmp_path: Path, words: tuple[str, ...], sentence: str) -> None:
    status, out, err = call("measure", "-o", tmp_path / "run", *words)
    assert (status, out) == (2, "")
    assert sentence in err


def test_a_folder_that_holds_a_run_is_refused(call: Call, tmp_path: Path) -> None:
    (tmp_path / "series.jsonl").write_text("")
    status, _, err = call("measure", "-o", tmp_path, "--attach", 5)
    assert (status, "is not empty; a run needs a folder for itself" in err) == (2, True)


def test_it_says_where_it_runs(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    status, _, err = call("measure", "-o", tmp_path / "run", "--attach", 5)
    assert (status, "measure: runs on Linux only, this is Darwin" in err) == (2, True)


def test_the_page_s_commands_are_understood(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it doesn't run, only words that are understood come so far as to be refused for that."""
    page = (ROOT / "docs" / "how-to" / "measure.md").read_text(encoding="utf-8")
    commands = re.findall(r"^    oltpsim (measure .+)$", page, re.MULTILINE)
    assert len(commands) >= 4
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    for command in [*commands, "measure --no-such-option"]:
        status, _, err = call(*shlex.split(command))
        assert (status, "runs on Linux only" in err) == (2, command in commands), command
