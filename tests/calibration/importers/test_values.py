"""Each importer reads its samples to the values that a person reads off them. The tables were written down by hand."""

from pathlib import Path

import pytest

from oltpsim.calibration.importers.registry import IMPORTERS
from oltpsim.models.input import SourceFile
from tests.calibration.conftest import SAMPLES, reading_of, value_of

VALUES: dict[str, dict[str, float | str]] = {
    "go-tpc/tpcc_run_plain.txt": {
        "outcome.classes.new_order.count": 730,
        "outcome.classes.new_order.percentiles_ms.95": 79.7,
        "outcome.classes.new_order.errors": 3,
        "outcome.classes.payment.count": 766,
        "outcome.classes.payment.percentiles_ms.99.9": 536.9,
        "outcome.classes.stock_level.max_ms": 1208.0,
        "outcome.reported.tpmC": 3826.9,
        "outcome.reported.tpmTotal": 9324.1,
        "workload.warehouses": 2,
        "workload.clients": 4,
    },
    "go-tpc/tpcc_run_table.txt": {
        "outcome.classes.new_order.count": 3055,
        "outcome.classes.delivery.percentiles_ms.50": 17.8,
        "outcome.classes.payment.errors": 2,
        "outcome.classes.stock_level.percentiles_ms.99": 13.1,
        "outcome.reported.tpmC": 15339.1,
        "workload.warehouses": 2,
    },
    "go-tpc/tpcc_run_json.txt": {
        "outcome.classes.new_order.count": 2770,
        "outcome.classes.order_status.count": 239,
        "outcome.classes.payment.percentiles_ms.99.9": 33.6,
        "outcome.classes.stock_level.max_ms": 22.0,
        "outcome.classes.new_order.errors": 1,
        "outcome.reported.tpmTotal": 31241.4,
    },
    "run_directories/postgres15_go-tpc_one_disk_400_iops/go-tpc.log": {
        "outcome.classes.new_order.count": 2595,
        "outcome.classes.delivery.percentiles_ms.95": 778.6,
        "outcome.classes.payment.errors": 6,
        "outcome.classes.stock_level.percentiles_ms.50": 4.9,
        "outcome.reported.tpmC": 2584.9,
        "workload.warehouses": 40,
        "workload.clients": 16,
    },
    "hammerdb/run.log": {
        "outcome.new_orders_per_minute": 41203,
        "outcome.reported.TPM": 95470,
        "workload.clients": 8,
        "window.duration_s": 300,
        "window.ramp_s": 120,
        "engine.name": "PostgreSQL",
    },
    "hammerdb/result.json": {
        "outcome.new_orders_per_minute": 41203,
        "outcome.reported.TPM": 95470,
        "workload.clients": 8,
        "engine.name": "PostgreSQL",
        "workload.driver": "HammerDB TPROC-C",
    },
    "hammerdb/timing.json": {
        "outcome.classes.new_order.count": 288400,
        "outcome.classes.new_order.mean_ms": 7.25,
        "outcome.classes.payment.percentiles_ms.95": 7.41,
        "outcome.classes.order_status.max_ms": 40.7,
        "outcome.classes.stock_level.percentiles_ms.50": 1.6,
        "outcome.transactions_per_s": 662800 / 420.3,
        "outcome.mean_ms": 3350220 / 662800,
    },
    "hammerdb/report.json": {
        "outcome.new_orders_per_minute": 41203,
        "outcome.reported.TPM": 95470,
        "workload.warehouses": 50,
        "workload.clients": 8,
        "window.ramp_s": 120,
        "environment.cores": 16,
        "environment.memory_gib": 62.7,
        "engine.version": "17.5",
        "outcome.classes.payment.percentiles_ms.75": 4.0,
    },
    "sysbench/tpcc_1.0.15.txt": {
        "outcome.transactions_per_s": 13200 / 30.0122,
        "outcome.new_orders_per_minute": 13200 / 30.0122 * 600 / 23,
        "outcome.mean_ms": 54.52,
        "outcome.percentiles_ms.99": 139.85,
        "outcome.errors_per_s": 57 / 30.0122,
        "workload.clients": 24,
        "window.duration_s": 30.0122,
    },
    "sysbench/oltp_rw_histogram.txt": {
        "outcome.transactions_per_s": 4535 / 8.0174,
        "outcome.reported.tps": 565.44,
        "outcome.mean_ms": 7.06,
        "outcome.percentiles_ms.99": 36.24,
        "workload.clients": 4,
    },
    "sysbench/tpcc_kit.txt": {
        "outcome.new_orders_per_minute": 4467 * 3,
        "outcome.transactions_per_s": (10130 + 50) / 20,
        "outcome.mean_ms": 15.698,
        "outcome.percentiles_ms.99": 68.830,
        "outcome.classes.new_order.count": 4467,
        "outcome.classes.payment.mean_ms": 18.284,
        "outcome.classes.delivery.percentiles_ms.95": 69.518,
        "outcome.classes.stock_level.max_ms": 15.728,
        "outcome.classes.order_status.errors": 0,
        "outcome.reported.NOPM": 13401.0,
        "outcome.reported.rolled_back": 50,
        "workload.clients": 8,
        "workload.warehouses": 1,
        "workload.think_time_s": 0,
        "window.kind": "steady",
        "window.duration_s": 20,
        "window.ramp_s": 4,
    },
    "pgbench/tpcb_summary.txt": {
        "outcome.transactions_per_s": 787.912716,
        "outcome.mean_ms": 5.070,
        "workload.clients": 4,
        "workload.scale": 10,
        "window.duration_s": 12,
    },
    "pgbench/rate_limited.txt": {
        "outcome.transactions_per_s": 42.869123,
        "outcome.mean_ms": 4.075 - 0.245,
        "outcome.reported.latency with schedule lag": 4.075,
        "workload.clients": 2,
        "window.duration_s": 3,
    },
    "pgbench/pgbench_log.25789": {
        "outcome.transactions_per_s": (723 + 701 + 997 + 1010 + 749 + 740 + 995 + 1013 + 618 + 609) / 10,
        "outcome.mean_ms": 39_924_611 / 8155 / 1000,
        "window.duration_s": 10,
        "window.kind": "steady",
        "engine.name": "PostgreSQL",
    },
    "pgbench/per_transaction/pgbench_log.25801": {
        "outcome.mean_ms": (20.926 - 0.171 + 7.447 - 0.213 + 13.150 - 0.142 + 4.215 - 0.075) / 4,
        "outcome.percentiles_ms.99": 20.926 - 0.171,
        "outcome.percentiles_ms.50": 13.150 - 0.142,
        "window.duration_s": 0.215988 - 0.193830,
        "outcome.transactions_per_s": 3 / (0.215988 - 0.193830),
    },
    "benchbase/run.summary.json": {
        "outcome.transactions_per_s": 499.99791,
        "outcome.mean_ms": 19.98,
        "outcome.percentiles_ms.95": 48.21,
        "outcome.percentiles_ms.50": 15.9,
        "workload.clients": 10,
        "workload.warehouses": 20,
        "window.duration_s": 120.0005,
        "engine.version": "16.4",
    },
    "benchbase/run.raw.csv": {
        "outcome.transactions_per_s": 2.5,
        "outcome.new_orders_per_minute": 60,
        "outcome.mean_ms": 16.4,
        "outcome.classes.new_order.mean_ms": 25,
        "outcome.classes.order_status.count": 1,
        "window.duration_s": 2.0,
    },
    "tpcc-mysql/run.txt": {
        "outcome.new_orders_per_minute": 9300,
        "outcome.transactions_per_s": 21380 / 60,
        "outcome.classes.payment.count": 9290,
        "outcome.classes.delivery.mean_ms": 120,
        "outcome.classes.new_order.errors": 2,
        "workload.clients": 8,
        "workload.warehouses": 20,
        "window.ramp_s": 30,
        "outcome.reported.TpmC": 9300,
    },
    "dbt2/summary.rst": {
        "outcome.new_orders_per_minute": 445.5,
        "outcome.classes.new_order.mean_ms": 64,
        "outcome.classes.delivery.percentiles_ms.90": 240,
        "outcome.classes.new_order.errors": 45,
        "outcome.transactions_per_s": 10017 / 600,
        "window.ramp_s": 120,
    },
    "oracle/awr.txt": {
        "outcome.transactions_per_s": 500,
        "resources.log_bytes_per_s": 1250000.5,
        "resources.buffer_reads_per_s": 1050,
        "resources.buffer_hits_per_s": 88950,
        "resources.log_flushes_per_s": 400,
        "resources.devices.all.reads_per_s": 1900.4,
        "resources.cpu_user_fraction": 0.415,
        "environment.cores": 32,
        "window.duration_s": 3600,
    },
    "blktrace/blkparse.txt": {
        "resources.devices.8,16.reads_per_s": 1.0,
        "resources.devices.8,16.writes_per_s": 0.5,
        "resources.devices.8,16.read_kib_per_s": 8.0,
        "resources.devices.8,16.read_await_ms": 5.0,
        "resources.devices.8,16.write_await_ms": 6.0,
    },
}
"""By sample: keys, and what stands in the file, in the record's unit."""

SAMPLED: dict[str, dict[str, float]] = {
    "monitors/iostat_x.json": {"cpu_user_fraction": 0.925, "cpu_system_fraction": 0.075, "cpu_idle_fraction": 0.0,
                               "devices.vda.reads_per_s": 0.0, "devices.vda.writes_per_s": 1.0},
    "monitors/mpstat.json": {"cpu_user_fraction": 0.91, "cpu_system_fraction": 0.09, "cpu_iowait_fraction": 0.0,
                             "cpu_steal_fraction": 0.0, "cpu_idle_fraction": 0.0},
    "monitors/mpstat_text.txt": {"cpu_user_fraction": 0.1566, "cpu_system_fraction": 0.1414,
                                 "cpu_iowait_fraction": 0.6566, "cpu_steal_fraction": 0.0, "cpu_idle_fraction": 0.0455},
    "monitors/vmstat_tw.txt": {"cpu_user_fraction": 0.93, "cpu_system_fraction": 0.07, "cpu_idle_fraction": 0.0,
                               "swap_in_kib_per_s": 0.0, "swap_out_kib_per_s": 0.0},
    "monitors/sadf.json": {"cpu_user_fraction": 0.9698, "cpu_system_fraction": 0.0251, "cpu_steal_fraction": 0.005,
                           "cpu_idle_fraction": 0.0, "devices.loop1.requests_per_s": 0.0},
    "monitors/iostat_megabytes.txt": {"devices.sda.reads_per_s": 1000, "devices.sda.read_kib_per_s": 8192,
                                      "devices.sda.write_kib_per_s": 4096, "devices.sda.read_await_ms": 2.0,
                                      "devices.sda.queue_length": 4.0, "devices.sda.utilisation_fraction": 0.6},
    "run_directories/postgres15_go-tpc_in_memory/iostat-x.txt": {
        "cpu_user_fraction": 0.711, "cpu_system_fraction": 0.287, "cpu_steal_fraction": 0.001,
        "devices.loop1.reads_per_s": 235.2, "devices.loop1.read_await_ms": 1.04},
    "run_directories/postgres15_go-tpc_one_disk_400_iops/sadf.json": {
        "cpu_user_fraction": 0.6246, "cpu_system_fraction": 0.3684, "cpu_iowait_fraction": 0.002,
        "cpu_steal_fraction": 0.005, "swap_out_kib_per_s": 637.92,
        "devices.loop1.requests_per_s": 5257.88, "devices.loop1.await_ms": 1.27},
}  # fmt: skip
"""By sample: the first interval that counts."""


@pytest.mark.parametrize("sample", VALUES)
def test_a_result_reads_as_a_person_does(sample: str) -> None:
    reading = reading_of(SAMPLES / sample)
    assert len(VALUES[sample]) >= 5
    for key, expected in VALUES[sample].items():
        found = reading.values["window", "kind"] if key == "window.kind" else value_of(reading, key)
        assert found == (expected if isinstance(expected, str) else pytest.approx(expected)), key


@pytest.mark.parametrize("sample", SAMPLED)
def test_a_monitors_first_interval_reads_as_a_person_does(sample: str) -> None:
    reading = reading_of(SAMPLES / sample)
    assert reading.samples is not None
    first = {".".join(path[1:]): value for path, value in reading.samples.rows[0].values.items()}
    assert len(SAMPLED[sample]) >= 5
    for key, expected in SAMPLED[sample].items():
        assert first[key] == pytest.approx(expected), key


def test_every_sample_is_recognised_by_one_importer_only() -> None:
    known = {
        path
        for path in SAMPLES.rglob("*")
        if path.is_file() and path.parent.name not in {"tables", "catalogue"} and path.suffix != ".md"
    }
    for path in sorted(known):
        kinds = [each.KIND for each in IMPORTERS if each.detect(SourceFile(path, path.name))]
        assert len(kinds) == 1, f"{path.name}: {kinds}"


@pytest.mark.parametrize(
    "text", ["", "hello\n", "a,b\n1,2\n", '{"a": 1}', "[]", "Linux is fine\n", "cpu\n", "\x00\x01"]
)
def test_other_files_are_recognised_by_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other"
    path.write_text(text, encoding="utf-8")
    assert [each.KIND for each in IMPORTERS if each.detect(SourceFile(path, path.name))] == []
