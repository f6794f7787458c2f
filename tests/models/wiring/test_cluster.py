"""TPC-C on one of several servers: closed forms, laws, one trajectory, a failover."""

import math
from pathlib import Path

import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build, failover_of
from oltpsim.models.wiring.cluster import cluster_paths
from oltpsim.models.workloads import SINGLE_SERVER
from oltpsim.models.workloads.tpcc.cluster import PREPARE_BYTES
from oltpsim.scenarios.run import SimulationTask, simulate
from oltpsim.simulator import kernel
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import System
from oltpsim.simulator.results import Result
from tests.simulator.twins import differences

TINY = Path(__file__).resolve().parents[2] / "scenarios" / "tiny.yaml"
FLASH = ("machine.disks.disk=nvme", "database.log.commit=durable", "interval={start: warm, duration_s: 10}")
STANDBY = "cluster.standby={round_trip_us: 1000, flush_us: 1000}"


def scenario(*settings: str) -> ScenarioSpec:
    return load_scenario(TINY, [*FLASH, *settings])


def model(*settings: str) -> System:
    return build(scenario(*settings))


def result(*settings: str, seed: int = 1) -> Result:
    return kernel.simulate(model(*settings), seed)


def test_one_server_is_the_single_machine() -> None:
    """Byte for byte: the same program and the same parts."""
    alone = model().digest()
    assert model("cluster={servers: 1, round_trip_us: 5000}").digest() == alone
    assert model("cluster.servers=2").digest() != alone
    assert model(f"{STANDBY}").digest() != alone
    assert cluster_paths(scenario()) is SINGLE_SERVER


@pytest.mark.parametrize(
    ("servers", "warehouses", "chance"), [(2, 1, 1.0), (4, 10, 30 / 39), (100, 50, 99 * 50 / 4999)]
)
def test_another_warehouse_is_elsewhere_as_often_as_warehouses_are(
    servers: int, warehouses: int, chance: float
) -> None:
    paths = cluster_paths(scenario(f"cluster.servers={servers}", f"workload.warehouses={warehouses}"))
    assert math.isclose(paths.elsewhere, chance)


@pytest.mark.uncounted
@pytest.mark.parametrize(
    "settings",
    [
        ("cluster.servers=3",),
        ("cluster.servers=3", STANDBY),
        (STANDBY, "cluster.read_replica.response_ms=3"),
        ("cluster.servers=2", STANDBY, "workload.tpcc.remote_payment_fraction=1", "database.log.commit=buffered"),
    ],
)
def test_clusters_give_one_trajectory(settings: tuple[str, ...]) -> None:
    shorter = ("interval.duration_s=1", "workload.arrivals.clients=6", "workload.warehouses=2")
    assert differences(model(*settings, *shorter), 4) == []


ONLY_PAYMENTS = "workload.mix={new_order: 0.5, payment: 0.5, order_status: 0, delivery: 0, stock_level: 0}"


def test_messages_and_prepare_records_are_counted() -> None:
    """Both sides of each question to another server: remote lines, remote customers, and one to prepare."""
    remote = ("workload.tpcc.remote_payment_fraction=0.5", "workload.tpcc.remote_stock_fraction=0",
              "workload.warehouses=4", ONLY_PAYMENTS)  # fmt: skip
    alone, shared = result(*remote), result(*remote, "cluster={servers: 3, message_us: 500, round_trip_us: 0}")
    share = 0.5 * 0.5 * 8 / 11

    def system_s(found: Result) -> float:
        return found.cpu.system * found.cpu.cores / found.transactions_per_s

    more = system_s(shared) - system_s(alone)
    assert math.isclose(more, share * 2 * 2 * 500e-6, rel_tol=0.05)
    assert not math.isclose(more, share * 2 * 500e-6, rel_tol=0.05), "without preparing it would be half"
    bytes_each = [found.log.bytes_per_s / found.transactions_per_s for found in (alone, shared)]
    assert math.isclose(bytes_each[1] - bytes_each[0], share * PREPARE_BYTES, rel_tol=0.3)


def test_more_rows_elsewhere_are_never_faster() -> None:
    settings = ("workload.warehouses=4", "workload.arrivals.clients=8", "cluster.message_us=300",
                "workload.tpcc.remote_payment_fraction=0.4")  # fmt: skip
    rates = [result(*settings, f"cluster.servers={n}").transactions_per_s for n in (1, 2, 4)]
    assert rates[0] > rates[1] > rates[2]
    more = result(*settings, "cluster.servers=4", "workload.tpcc.remote_payment_fraction=0.9")
    assert more.transactions_per_s < rates[2]


def test_a_standby_is_never_faster_and_its_wait_keeps_rows_locked() -> None:
    """Payments of one warehouse go one by one, each at least as long as the standby takes."""
    settings = ("workload.warehouses=1", "workload.arrivals.clients=12", ONLY_PAYMENTS)
    alone = result(*settings)
    held = result(*settings, "cluster.standby={round_trip_us: 10000, flush_us: 10000}")
    payments = [each.rate_per_min / 60 for each in (alone.classes[1], held.classes[1])]
    assert payments[0] > 50 > payments[1], "20 ms each"
    near = result(*settings, "cluster.standby={round_trip_us: 100, flush_us: 100}")
    assert alone.transactions_per_s >= near.transactions_per_s > held.transactions_per_s


def test_a_read_replica_takes_the_work_of_its_classes_away() -> None:
    found, alone = result("cluster.read_replica.response_ms=7"), result()
    for name, there in (("order status", True), ("stock level", True), ("payment", False)):
        own = next(each for each in found.classes if each.name == name)
        assert math.isclose(own.mean_s, 0.007, rel_tol=1e-6) is there
    stock, all_stock = (
        next(each.references for each in run.tables if each.name == "stock") / run.transactions_per_s
        for run in (found, alone)
    )
    assert stock < 0.5 * all_stock, "stock level reads most of it"


FAILOVER = ("interval={start: warm, warm_up_s: 5, duration_s: 55}", "machine.disks.disk=scsi-10k-73",
            STANDBY, "cluster.failover={at_s: 20, detection_s: 3, promotion_s: 2}")  # fmt: skip


def test_a_failover_is_silence_then_a_cold_pool() -> None:
    asked = scenario(*FAILOVER)
    found = simulate(SimulationTask(asked, 1))
    said = [line for line in found.warnings if line.startswith("failover: ")]
    assert len(said) == 1
    assert "nobody is served for 5 s" in said[0]
    lost = failover_of(asked, found, lambda after: kernel.simulate(build(after), 1))
    assert lost is not None
    assert len(lost.rates_per_min) == 60
    assert lost.rates_per_min[20:25] == [0.0] * 5
    assert min(lost.rates_per_min[6:20]) > 0
    assert lost.first_per_min < lost.before_per_min, "misses of a cold pool"
    assert lost.recovered_s is None or lost.recovered_s > 5
    clients = 4 if asked.workload.arrivals.kind != "closed" else asked.workload.arrivals.clients
    assert 0 < lost.failed <= clients * 1.01


def test_no_failover_no_words() -> None:
    asked = scenario("cluster.servers=2", "interval.duration_s=2")
    found = simulate(SimulationTask(asked, 1))
    assert failover_of(asked, found, lambda after: kernel.simulate(build(after), 1)) is None
    assert any("one of 2 equal servers is simulated and stands for all" in line for line in found.warnings)
    assert not any("failover" in line for line in found.warnings)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (("cluster.servers=2", "engine=analytic"), "cluster: the analytic engine knows no other servers"),
        (("cluster.servers=2", "job={kind: mutex}"), "cluster: is for transactions"),
        (("cluster.servers=2", "workload=pgbench"), "have no paths to other servers"),
        (("cluster.failover={at_s: 5, detection_s: 1, promotion_s: 1}",), "needs a standby that takes over"),
        ((STANDBY, "cluster.failover={at_s: 5, detection_s: 3, promotion_s: 2}"), "at_s: got 5 s, back at 10 s"),
        (
            (STANDBY, "cluster.failover={at_s: 5, detection_s: 1, promotion_s: 1}",
             "interval={start: warm, new_orders_per_client: 5, duration_s: null, warm_up_s: 0}"),
            "happens at a time",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(settings: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        scenario(*settings)
