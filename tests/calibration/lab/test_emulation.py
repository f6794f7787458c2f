"""From a scenario to the machine that a host emulates, and what it can't be."""

import os
import subprocess
from pathlib import Path

import pytest

from oltpsim.calibration.lab.emulation import emulated
from oltpsim.calibration.lab.groups import Group
from oltpsim.calibration.lab.laboratory import generator_of
from oltpsim.calibration.lab.load_generator import LoadGenerator, core_speed_of
from oltpsim.calibration.lab.mariadb import MariaDBServer
from oltpsim.calibration.lab.postgresql import PostgreSQLServer
from oltpsim.calibration.lab.storage import CHUNK_BYTES, rewrite_in_place
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.library import scenario_loader
from oltpsim.simulator.errors import InputError

SCENARIO = "laboratory/postgresql"


def scenario(*settings: str) -> ScenarioSpec:
    return scenario_loader(SCENARIO)(settings)


def test_limits_of_the_groups_and_the_disks() -> None:
    machine = emulated(scenario(), "here", cores=range(4))
    assert machine.engine == "postgresql"
    assert (machine.database.cores, machine.others.cores) == ((0,), (1, 2, 3))
    assert (machine.database.memory_bytes, machine.swap_bytes, machine.dirty_bytes) == (2**30, 2**30, 192 * 2**20)
    assert (machine.data.count, machine.data.level) == (1, "independent")
    assert machine.log is not None


def test_where_all_cores_are_the_databases_the_others_share_them() -> None:
    machine = emulated(scenario("machine.cpu.cores=2", "machine.cpu.quota_cores=1.5"), "here", cores=range(2))
    assert machine.database.cores == machine.others.cores == (0, 1)
    assert machine.database.quota_cores == 1.5
    assert machine.others.weight > machine.database.weight


def test_independent_disks_are_one_device_striped_by_pages() -> None:
    machine = emulated(scenario("machine.disks.count=4"), "here", cores=range(2))
    assert (machine.data.level, machine.data.count, machine.data.stripe_kib) == ("raid0", 4, 8)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("machine.cpu.cores=64", "machine.cpu.cores: got 64; this host lends at most 2"),
        ("machine.memory_gib=60000", "machine.memory_gib: got 60000"),
        ("workload.active_warehouses=3", "workload.active_warehouses: got 3"),
        (
            "workload.tpcc.remote_stock_fraction=0",
            "workload.tpcc.remote_stock_fraction: got 0.0; the kit doesn't do that",
        ),
        (
            "workload.mix={new_order: 0.44, payment: 0.44, order_status: 0.04, delivery: 0.04, stock_level: 0.04}",
            "workload.mix: the kit doesn't do that: 45, 43, 4, 4 and 4 %",
        ),
        ("interval.start=warm", "interval.start: got warm; a laboratory's run starts from the restored state"),
        ("operating_system.page_cache.dirty_limit_mib=null", "operating_system.page_cache.dirty_limit_mib: missing"),
        ("workload.arrivals={kind: open, transactions_per_s: 3, connections: 2}", "workload.arrivals.kind: got open"),
        ("database.name=Virtuoso 5", "database.name: got Virtuoso 5; the laboratory runs PostgreSQL and MariaDB"),
    ],
)
def test_what_cannot_be_emulated_is_refused_by_its_key(setting: str, words: str) -> None:
    others = ("interval.lead_in=null",) if "arrivals" in setting else ()
    with pytest.raises(InputError) as caught:
        emulated(scenario(setting, *others), "here.yaml", cores=range(2))
    assert f"here.yaml: {words}" in str(caught.value)


PGBENCH = "workload={base: pgbench-simple-update, scale: 3, arrivals: {clients: 5}}"


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of PostgreSQL and sysbench, wherever they are not."""
    monkeypatch.setattr("oltpsim.calibration.lab.pgbench.programs", lambda: Path("/bin"))
    monkeypatch.setattr("oltpsim.calibration.lab.tpcc_kit.sysbench_program", lambda: "/bin/sysbench")


def generator(*settings: str) -> LoadGenerator:
    wanted = scenario(*settings)
    assert emulated(wanted, "here", cores=range(2)).engine == "postgresql"
    return generator_of(PostgreSQLServer(Path("data"), Path("sockets"), Group("test", 1, {})), wanted)


@pytest.mark.usefixtures("programs")
def test_pgbench_is_driven_as_the_scenario_says() -> None:
    times = "interval.lead_in={transactions: 52}", "interval.warm_up_s=7", "interval.duration_s=9"
    driver = generator(PGBENCH, *times)
    assert driver.state == "pgbench-s3"
    lead_in = driver.scenario.interval.lead_in
    assert lead_in is not None
    loads, leads, runs = driver.load_words(), driver.lead_in_words(lead_in, 1), driver.run_words(1)
    assert {"--initialize", "--scale=3"} < set(loads)
    for words, length in ((leads, "--transactions=10"), (runs, "--time=16")):
        assert {"--builtin=simple-update", "--client=5", "--jobs=2", length} < set(words)
    seeds = {word for words in (leads, runs) for word in words if word.startswith("--random-seed=")}
    assert len(seeds) == 2, "no transactions are done twice"
    assert all(words[-1] == "tpcc" for words in (loads, leads, runs)), "the database"


@pytest.mark.usefixtures("programs")
def test_the_kit_has_its_warm_up_within_the_run() -> None:
    driver = generator("interval.warm_up_s=7", "interval.duration_s=9")
    assert {"--time=16", "--warm-up-time=7"} < set(driver.run_words(1))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["workload={base: ycsb-a}"], "workload: got YCSB, workload A; the laboratory runs TPC-C"),
        ([PGBENCH, "workload.tables[accounts].rows=1000"], "workload: got pgbench, simple update; the laboratory runs"),
        (
            [PGBENCH, "workload.tables[accounts].indexes=[{name: more, entries_per_page: 9}]"],
            "workload: got pgbench",
        ),
        ([PGBENCH, "workload.arrivals.think_time_s=1"], "workload.arrivals.think_time_s: got 1; pgbench's clients"),
    ],
)
def test_rows_that_no_harness_drives_are_refused(settings: list[str], words: str) -> None:
    with pytest.raises(InputError) as caught:
        emulated(scenario(*settings), "here.yaml", cores=range(2))
    assert words in str(caught.value)


def test_the_speed_of_a_core_is_read() -> None:
    assert core_speed_of("CPU speed:\n    events per second:  2261.70\n\nGeneral statistics:") == 2261.7
    with pytest.raises(InputError, match="no events per second: FATAL: no such test"):
        core_speed_of("FATAL: no such test\n")


@pytest.mark.parametrize("flush_after", [True, False])
def test_what_daemons_write_is_pushed_only_where_the_scenario_says_so(flush_after: bool) -> None:
    database = scenario(f"database.writer.flush_after={str(flush_after).lower()}").database
    settings = PostgreSQLServer(Path("data"), Path("sockets"), Group("test", 1, {})).settings(database, 16)
    for name in ("checkpoint_flush_after", "bgwriter_flush_after"):
        assert settings.get(name) == (None if flush_after else "0"), "absent: the server's default"


def never_written(file: Path) -> bool:
    """Whether a file has blocks that were reserved and never written."""
    asked = ["filefrag", "-v", str(file)]
    return "unwritten" in subprocess.run(asked, check=True, capture_output=True, text=True).stdout


def test_a_file_that_is_rewritten_in_place_is_the_same_and_written(tmp_path: Path) -> None:
    log, size = tmp_path / "log", 5 * CHUNK_BYTES // 2
    log.write_bytes(b"first")
    with log.open("r+b") as opened:
        os.posix_fallocate(opened.fileno(), 0, size)
    if not never_written(log):
        pytest.skip("this file system doesn't tell blocks that were never written from others: ext4 does")
    before = log.read_bytes()
    rewrite_in_place(log)
    assert log.read_bytes() == before
    assert len(before) == size
    assert not never_written(log)


@pytest.mark.parametrize(("name", "method"), [("mariadb", "O_DIRECT"), ("mariadb-buffered", "fsync")])
def test_mariadb_reads_and_writes_as_the_scenario_says(name: str, method: str) -> None:
    wanted = scenario_loader(f"laboratory/{name}")(())
    assert emulated(wanted, "here", cores=range(2)).engine == "mariadb"
    server = MariaDBServer(Path("data"), Path("sockets"), Group("test", 1, {}))
    assert server.settings(wanted.database, 16)["innodb_flush_method"] == method
