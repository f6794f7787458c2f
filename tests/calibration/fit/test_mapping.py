"""From a record to its scenario: what sets what, and what is refused with file, key, what came and what to do."""

from pathlib import Path

import pytest

from oltpsim.calibration.fit import FigureKind, measured_runs, read_mapping_file
from oltpsim.calibration.fit.mapping import run_scenario
from oltpsim.calibration.records import Observed, ObservedText, RunRecord, load_record, shipped_records
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.simulator.errors import InputError
from tests.calibration.synthetic import base, record, said_by

V20Z = load_scenario_file(library_files()["v20z"])


def file_of(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mapping.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_record_sets_the_scenario_and_says_so() -> None:
    [run] = measured_runs(
        [load_record(shipped_records()["v20z-43000-buffers"])], V20Z, {"database.path.page_miss_us": 111.0}
    )
    assert run.scenario.database.pool.buffers == 43000
    assert run.scenario.database.path.page_miss_us == 111.0
    assert run.scenario.interval == V20Z.interval
    assert run.settings["database.pool.buffers"] == (43000, "the record's engine.buffer_pool_gib")
    [rate] = run.observations
    assert (rate.kind, rate.value, rate.noise) == (FigureKind.RATE, 3872.0, "assumption")


def test_postgresql_settings_and_a_steady_window_are_understood(tmp_path: Path) -> None:
    path = file_of(tmp_path, "all: {data_devices: [loop1], ignored: [window.duration_s]}")
    records = [load_record(shipped_records()["postgres15_go-tpc_one_disk_400_iops"])]
    [run] = measured_runs(records, V20Z, {}, read_mapping_file(path, records))
    scenario = run.scenario
    assert (scenario.database.log.commit, scenario.database.checkpoint.interval_s) == ("durable", 3600.0)
    assert (scenario.interval.start, scenario.interval.duration_s) == ("warm", V20Z.interval.duration_s)
    assert scenario.machine.memory_gib == 1.5
    kinds = {each.kind: each for each in run.observations}
    assert {
        FigureKind.RATE,
        FigureKind.CPU,
        FigureKind.READS,
        FigureKind.WRITES,
        FigureKind.MISSES,
        FigureKind.BUSY,
    } <= set(kinds)
    assert kinds[FigureKind.CPU].at_least
    assert kinds[FigureKind.BUSY].at_least
    assert not kinds[FigureKind.RATE].at_least
    assert kinds[FigureKind.READS].value == pytest.approx(295.288 / 93.2444, rel=1e-4)
    assert 0.02 < kinds[FigureKind.RATE].sd < 0.1


def test_a_run_begins_as_its_record_says(tmp_path: Path) -> None:
    """State, lead-in and ramp; without them as before: warm, at once. A part of the scenario may be mapped as whole."""
    folder = Path(__file__).resolve().parents[3] / "calibration" / "runs" / "emulated_disks"
    records = [load_record(folder / f"{name}.yaml") for name in ("io-base-r2", "io-sb128-r1")]
    disk = "{kind: flash, name: one, capacity_gib: 9, read_latency_us: 7, write_latency_us: 7, parallel_requests: 1, "
    text = f"all: {{settings: {{machine.disks.disk: {disk} source: a test}}}}, data_devices: [data]}}"
    slow = load_scenario_file(library_files()["postgresql-15-400-iops"])
    runs = measured_runs(records, slow, {}, read_mapping_file(file_of(tmp_path, text), records))
    starts = [run.scenario.interval for run in runs]
    assert [each.start for each in starts] == ["after_prewarm", "after_prewarm"]
    assert [each.warm_up_s for each in starts] == [12.0, 12.0]
    by_time, by_number = (each.lead_in for each in starts)
    assert by_time is not None
    assert by_number is not None
    assert (by_time.duration_s, by_time.transactions) == (20.0, None)
    assert (by_number.duration_s, by_number.transactions) == (None, 16_000)
    assert [run.scenario.machine.disks.disk.name for run in runs] == ["one", "one"]
    plain = load_record(shipped_records()["postgres15_go-tpc_one_disk_400_iops"])
    path = file_of(tmp_path, "all: {data_devices: [loop1]}")
    [run] = measured_runs([plain], slow, {}, read_mapping_file(path, [plain]))
    assert (run.scenario.interval.start, run.scenario.interval.lead_in) == ("warm", None)
    assert not any("window.ramp_s" in text for text in run.left_aside)
    said = Observed(value=60.0, unit="s", source="a test", definition="a ramp")
    ramped = plain.model_copy(update={"window": plain.window.model_copy(update={"ramp_s": said})})
    [run] = measured_runs([ramped], slow, {}, read_mapping_file(path, [ramped]))
    assert run.scenario.interval.start == "warm"
    assert any("window.ramp_s: nothing says what was before it" in text for text in run.left_aside)
    assert not any("window.ramp_s" in text for each in runs for text in each.left_aside)


def test_a_scale_is_the_rows_and_of_warehouses_it_is_noted(tmp_path: Path) -> None:
    folder = Path(__file__).resolve().parents[3] / "calibration" / "runs" / "laboratory_pgbench"
    records = [load_record(folder / "postgresql-pgbench-in-memory.r1.yaml")]
    mapping = read_mapping_file(file_of(tmp_path, "all: {data_devices: [loop7300]}"), records)
    rows, warehouses = (
        measured_runs(records, load_scenario_file(library_files()[name], settings), {}, mapping)[0]
        for name, settings in (
            ("laboratory/postgresql-pgbench", ("workload.scale=77",)),
            ("laboratory/postgresql", ()),
        )
    )
    assert rows.scenario.workload.size == 10
    assert rows.settings["workload.scale"] == (10, "the record's workload.scale")
    assert rows.scenario.interval.warm_up_s == 60, "which the laboratory says, pgbench doesn't"
    assert warehouses.scenario.workload == load_scenario_file(library_files()["laboratory/postgresql"]).workload
    assert any(note.startswith("workload.scale: the base has TPC-C") for note in warehouses.left_aside)


def test_warehouses_are_noted_where_the_base_has_rows(tmp_path: Path) -> None:
    folder = Path(__file__).resolve().parents[3] / "calibration" / "runs" / "laboratory_postgresql"
    records = [load_record(folder / "postgresql-in-memory-8.r1.yaml")]
    rows = load_scenario_file(library_files()["laboratory/postgresql-pgbench"])
    mapping = read_mapping_file(file_of(tmp_path, "all: {data_devices: [loop7300]}"), records)
    [run] = measured_runs(records, rows, {}, mapping)
    assert run.scenario.workload.size == rows.workload.size
    assert "workload.warehouses: the base has pgbench, TPC-B-like" in run.left_aside


def test_a_part_that_a_run_sets_as_a_whole_has_nothing_of_the_part_of_all_runs(tmp_path: Path) -> None:
    """Settings keep no order in a calibration's file: those below a whole part that was set later are out."""
    names = ("in_memory", "one_disk_400_iops")
    records = [load_record(shipped_records()[f"postgres15_go-tpc_{name}"]) for name in names]
    whole = "{kind: flash, name: one, capacity_gib: 9, read_latency_us: 7, write_latency_us: 8, source: a test}"
    text = (
        "all: {settings: {machine.disks.disk.read_latency_us: 99}, ignored: [window.duration_s]}\n"
        f"runs: {{{records[0].name}: {{settings: {{machine.disks.disk: {whole}}}}}}}\n"
    )
    slow = load_scenario_file(library_files()["postgresql-15-400-iops"])
    one, other = measured_runs(records, slow, {}, read_mapping_file(file_of(tmp_path, text), records))
    assert (set(one.settings) ^ set(other.settings)) >= {"machine.disks.disk", "machine.disks.disk.read_latency_us"}
    assert "machine.disks.disk.read_latency_us" in other.settings
    for run in (one, other):
        settings = dict(sorted(run.settings.items()))
        assert run_scenario(run.name, slow, settings) == run.scenario


def test_another_engine_driver_or_size_than_the_records_is_noted() -> None:
    """What a fit takes from a base that isn't of the run's kind is said; of a base that is, nothing is."""
    memory = load_record(shipped_records()["postgres15_go-tpc_in_memory"])
    [alike] = measured_runs([memory], load_scenario_file(library_files()["postgresql-15"]), {})
    words = ("engine.name", "workload.driver", "taken from the base")
    assert not [text for text in alike.left_aside if text.startswith(words)]
    [other] = measured_runs([memory], V20Z, {})
    noted = [text for text in other.left_aside if text.startswith(words)]
    assert noted[0].startswith("engine.name: PostgreSQL 15")
    assert "the base is Virtuoso, before the 5.0 overhaul" in noted[0]
    assert noted[1].startswith("workload.driver: go-tpc tpcc, the base has TPC-C-like, Virtuoso's driver")
    newer = memory.model_copy(
        update={
            "engine": memory.engine.model_copy(
                update={"version": ObservedText(value="17.5", source="x", definition="x"), "buffer_pool_gib": None}
            )
        }
    )
    [run] = measured_runs([newer], load_scenario_file(library_files()["postgresql-15"]), {})
    noted = [text for text in run.left_aside if text.startswith(words)]
    assert noted[0].startswith("engine.name: PostgreSQL 17.5, the base is PostgreSQL 15")
    assert noted[1].endswith("doesn't say it: database.pool.buffers 393,216")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("{all: {settings: {machine.cpu.coers: 1}}}", "mapping.yaml: all.settings, for run one: machine.cpu.coers=1: "),
        ("{runs: {one: {settings: {machine.cpu.coers: 1}}}}", "mapping.yaml: runs.one.settings: machine.cpu.coers=1: "),
        ("{all: {settings: {machine.cpu.coers: 1}}, runs: {one: {settings: {machine.cpu.coers: 2}}}}",
         "mapping.yaml: runs.one.settings: machine.cpu.coers=2: "),
    ],
)  # fmt: skip
def test_a_setting_that_is_refused_is_named_by_file_run_and_key(tmp_path: Path, text: str, place: str) -> None:
    records = [one_record().model_copy(update={"name": "one"})]
    with pytest.raises(InputError) as caught:
        measured_runs(records, V20Z, {}, read_mapping_file(file_of(tmp_path, text), records))
    assert str(caught.value).startswith(f"{place}machine.cpu.coers: unknown key (did you mean 'cores'")


def test_what_a_record_says_wrong_is_named_by_its_key() -> None:
    record = load_record(shipped_records()["postgres15_go-tpc_in_memory"])
    assert record.environment.cores is not None
    cores = record.environment.cores.model_copy(update={"value": -3.0})
    wrong = record.model_copy(update={"environment": record.environment.model_copy(update={"cores": cores})})
    with pytest.raises(InputError, match=r"by the record's environment\.cores: machine\.cpu\.cores=-3: "):
        measured_runs([wrong], V20Z, {})


def test_a_mapping_file_serves_several_commands(tmp_path: Path) -> None:
    records = [one_record()]
    text = "{all: {settings: {workload.warehouses: 4}}, runs: {another: {settings: {machine.memory_gib: 3}}}}"
    [run] = measured_runs(records, base(), {}, read_mapping_file(file_of(tmp_path, text), records))
    assert run.scenario.workload.warehouses == 4
    for idle in ("runs: {another: {settings: {machine.memory_gib: 3}}}", "{all: {}, runs: {a rub: {}, b: {}}}"):
        with pytest.raises(InputError, match="no such run"):
            read_mapping_file(file_of(tmp_path, idle), records)


def test_several_devices_are_not_added_up_unasked() -> None:
    [run] = measured_runs([load_record(shipped_records()["postgres15_go-tpc_one_disk_400_iops"])], V20Z, {})
    assert FigureKind.READS not in {each.kind for each in run.observations}
    assert any("data_devices" in text for text in run.left_aside)


def one_record() -> RunRecord:
    scenario = base("workload.arrivals.clients=8")
    return record("a run", {FigureKind.RATE: said_by(scenario)[FigureKind.RATE]}, scenario, 8, 0.01)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("runs: {a rum: {}}", "runs.a rum: no such run (did you mean 'a run'?)"),
        ("all: {ignored: [workload.client]}", "did you mean 'workload.clients'"),
        ("all: {censored: [speed]}", "censored"),
        ("all: {data_devices: [sdb]}", "'sdb' isn't in the record; it has sda"),
        ("all: {settings: {workload.clients: 3}}", "workload.clients: unknown key"),
    ],
)
def test_a_broken_mapping_is_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    path = file_of(tmp_path, text)
    records = [one_record()]
    with pytest.raises(InputError) as caught:
        measured_runs(records, base(), {}, read_mapping_file(path, records))
    assert said in str(caught.value)


def test_a_run_given_twice_is_refused() -> None:
    with pytest.raises(InputError, match="two runs of this name"):
        measured_runs([one_record(), one_record()], base(), {})


SERVER = {
    "innodb_log_file_size": "32G",
    "innodb_io_capacity": "10000",
    "innodb_doublewrite": "OFF",
    "innodb_flush_log_at_trx_commit": "2",
    "innodb_flush_method": "fsync",
    "innodb_read_io_threads": "16",
}


def with_settings(settings: dict[str, str]) -> RunRecord:
    plain = load_record(shipped_records()["postgres15_go-tpc_in_memory"])
    texts = {name: ObservedText(value=text, source="x", definition="x") for name, text in settings.items()}
    engine = plain.engine.model_copy(update={"settings": texts, "name": None, "version": None})
    return plain.model_copy(update={"engine": engine, "resources": plain.resources.model_copy(update={"devices": {}})})


def test_settings_of_the_server_reach_the_scenario(tmp_path: Path) -> None:
    base = load_scenario_file(library_files()["innodb/hammerdb-80-users"])
    run_record = with_settings(SERVER)
    [run] = measured_runs([run_record], base, {})
    cleaner = run.scenario.database.page_cleaner
    assert cleaner is not None
    assert (cleaner.redo_capacity_gib, cleaner.io_capacity_per_s, cleaner.doublewrite) == (64, 10_000, False)
    assert run.scenario.database.io == "buffered"
    assert run.settings["database.page_cleaner.redo_capacity_gib"][1] == (
        "the record's engine.settings.innodb_log_file_size"
    )
    assert any("without effect in the model: innodb_read_io_threads 16" in text for text in run.left_aside)
    text = "all: {ignored: [engine.settings.innodb_log_file_size]}"
    [other] = measured_runs([run_record], base, {}, read_mapping_file(file_of(tmp_path, text), [run_record]))
    assert other.scenario.database.page_cleaner is not None
    assert base.database.page_cleaner is not None
    assert other.scenario.database.page_cleaner.redo_capacity_gib == base.database.page_cleaner.redo_capacity_gib


def test_settings_of_another_kind_of_server_are_noted() -> None:
    postgresql = load_scenario_file(library_files()["postgresql-15"])
    [run] = measured_runs([with_settings({"innodb_io_capacity": "10000"})], postgresql, {})
    assert run.scenario.database.page_cleaner is None
    assert any("the base, PostgreSQL 15, has no database.page_cleaner" in text for text in run.left_aside)
    [run] = measured_runs([with_settings({"max_wal_size": "4GB", "checkpoint_timeout": "30min"})], postgresql, {})
    checkpoint = run.scenario.database.checkpoint
    assert checkpoint is not None
    assert (checkpoint.most_log_gib, checkpoint.interval_s) == (4, 1800)
