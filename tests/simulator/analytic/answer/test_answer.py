"""Results of the analytic engine: complete, consistent, and in the simulating engines' terms."""

import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import gamma

from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.simulator import analytic, kernel
from oltpsim.simulator.analytic import (
    NO_PERCENTILES,
    Case,
    parameters_of,
    percentiles_s,
    read_workload,
    regime_of,
    result_of,
    solve,
)
from oltpsim.simulator.analytic.answer.figures import CPU_USES
from oltpsim.simulator.analytic.answer.percentiles import Mixture, mixture, response_quantiles_s
from oltpsim.simulator.errors import InternalError
from oltpsim.simulator.form import Progress, System
from oltpsim.simulator.results import (
    ACTIVITIES,
    CPU_ACTIVITIES,
    Bottleneck,
    ClassResult,
    PercentileInterval,
    read_result,
    result_json,
)
from oltpsim.simulator.results.snapshot import PURPOSES
from tests.simulator.analytic.columns import by_name, with_columns
from tests.simulator.tpcc_systems import TINY

SHARES = (0.5, 0.9, 0.95, 0.99, 0.999)
SOME_OF_EVERYTHING = ["database.log={commit: durable, flush_overhead_us: 50}", "machine.cpu.cores=2"]
FEW_BUFFERS = ["database.pool.buffers=300"]
OPEN = ["workload.arrivals={kind: open, transactions_per_s: 100, connections: 8}"]
OVERLOADED = ["workload.arrivals={kind: open, transactions_per_s: 5000, connections: 8}"]
DIRECT = ["database.io=direct"]
EVERY = [[], SOME_OF_EVERYTHING, FEW_BUFFERS, OPEN, OVERLOADED, DIRECT]


def model_of(settings: list[str]) -> System:
    return build(load_scenario(TINY, settings))


def case_of(settings: list[str]) -> Case:
    model = model_of(settings)
    workload = read_workload(model)
    parameters = parameters_of(model, workload)
    return Case(model, workload, parameters, solve(workload, parameters, model.pool.replacement))


def percentiles_of(one: ClassResult) -> list[float | None]:
    return [one.p50_s, one.p90_s, one.p95_s, one.p99_s, one.p999_s]


def tampered(case: Case, **figures: float) -> Case:
    """The case with figures of its solution multiplied."""
    known = {name.replace(".", "_"): value for name, value in by_name(case.solution).items()}
    return replace(
        case, solution=with_columns(case.solution, **{name: known[name] * by for name, by in figures.items()})
    )


def broken(case: Case) -> list[str]:
    return [law.name for law in result_of(case, 1).broken_laws]


@pytest.fixture(scope="module")
def tiny() -> Case:
    return case_of([])


# Completeness


@pytest.mark.parametrize("settings", EVERY)
def test_every_part_is_there_and_sums_up(settings: list[str]) -> None:
    case = case_of(settings)
    result = result_of(case, 7, ["first"])
    assert (result.engine, result.seed, result.model_hash) == ("analytic", 7, case.system.digest())
    assert result.warnings[0] == "first"
    assert not result.broken_laws
    for one in result.classes:
        assert tuple(one.time_by_s) == ACTIVITIES
        assert math.isclose(sum(one.time_by_s.values()), one.mean_s, rel_tol=1e-9)
        assert min(one.time_by_s.values()) >= 0.0
        percentiles = [each for each in percentiles_of(one) if each is not None]
        assert percentiles == sorted(percentiles)
        assert min(percentiles, default=1.0) > 0.0
    assert tuple(result.cpu.by_activity) == (*CPU_ACTIVITIES, "hand-over")
    assert math.isclose(sum(result.cpu.by_activity.values()), result.cpu.utilisation)
    for device in result.devices:
        assert set(device.by_purpose_per_s) <= set(PURPOSES)
        assert math.isclose(sum(device.by_purpose_per_s.values()), device.reads_per_s + device.writes_per_s)
        assert math.isclose(device.mean_queue, device.mean_response_s * sum(device.by_purpose_per_s.values()))
    for table in result.tables:
        parts = table.pool_hits + table.page_cache_hits + table.disk_reads + table.created
        assert table.references == parts
    assert {len(values) for values in result.series.values.values()} == {2}
    assert read_result(result_json(result)) == result


def test_names_are_those_of_the_simulating_engines(tiny: Case) -> None:
    assert (*CPU_ACTIVITIES, "hand-over") == CPU_USES
    calculated, simulated = result_of(tiny, 1), kernel.simulate(tiny.system, 1)
    assert set(calculated.series.values) == set(simulated.series.values)
    for names in (
        lambda result: [one.name for one in result.classes],
        lambda result: [(one.name, one.kind) for one in result.devices],
        lambda result: [(one.name, one.capacity_pages) for one in result.caches],
        lambda result: [one.name for one in result.tables],
        lambda result: [one.name for one in result.locks],
        lambda result: [(one.name, one.servers) for one in result.stations],
        lambda result: (result.scenario, result.model_hash, result.start, result.warm_up_s, result.duration_s),
    ):
        assert names(calculated) == names(simulated)


def test_it_is_near_the_simulation(tiny: Case) -> None:
    """Bounds that only catch nonsense: how good the engine is, errors.json says."""
    calculated, simulated = result_of(tiny, 1), kernel.simulate(tiny.system, 1)
    assert calculated.rate_per_min.mean == pytest.approx(simulated.rate_per_min.mean, rel=0.25)
    assert calculated.cpu.utilisation == pytest.approx(simulated.cpu.utilisation, abs=0.2)
    assert calculated.caches[0].hit_ratio == pytest.approx(simulated.caches[0].hit_ratio, abs=0.05)
    assert calculated.log.bytes_per_s == pytest.approx(simulated.log.bytes_per_s, rel=0.25)
    for one, other in zip(calculated.classes, simulated.classes, strict=True):
        assert one.time_by_s["cpu"] == pytest.approx(other.time_by_s["cpu"], rel=0.2)
    for here, there in zip(calculated.tables, simulated.tables, strict=True):
        missed, simulated_misses = here.references - here.pool_hits, there.references - there.pool_hits
        assert missed == pytest.approx(simulated_misses, rel=0.25, abs=150)


def test_progress_is_told_once_at_the_end(tiny: Case) -> None:
    told: list[Progress] = []
    result = analytic.simulate(tiny.system, 1, told.append)
    assert [(one.simulated_s, one.end_s) for one in told] == [(20.0, 20.0)]
    assert told[0].transactions == sum(one.completed for one in result.classes)


def test_it_loads_no_other_engine() -> None:
    code = "import sys, oltpsim.simulator.analytic.engine\nprint(sorted({'scipy', 'simpy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# Laws


@pytest.mark.parametrize(
    ("figures", "law"),
    [
        ({"classes_cpu_queue_s": 1.5}, "Little: clients = rate x (response + think time)"),
        ({"disks_first_busy": 1.1}, "disk 1 utilisation <= 1"),
        ({"disks_read_s": 1.01}, "Little: reads pending = reads x response"),
    ],
)
def test_a_tampered_solution_breaks_a_law(tiny: Case, figures: dict[str, float], law: str) -> None:
    assert not broken(tiny)
    case = tampered(tiny, disks_first_busy=1.0 / float(tiny.solution.disks.first_busy[0]))
    assert law in broken(tampered(case, **figures))


def test_a_tampered_rate_breaks_laws(tiny: Case) -> None:
    twice = replace(tiny, solution=replace(tiny.solution, rate=tiny.solution.rate * 2.0))
    assert {"Little: clients = rate x (response + think time)", "cpu utilisation <= 1"} <= set(broken(twice))


def test_reads_that_nobody_asked_for_break_a_law() -> None:
    case = case_of(FEW_BUFFERS)
    more = with_columns(case.solution, groups_reads=case.solution.groups.reads + 1.0)
    assert broken(replace(case, solution=more)) == ["disk reads of tables = reads of devices"]


def test_figures_that_are_no_numbers_are_refused(tiny: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = tampered(tiny, disks_busy=math.nan).solution
    monkeypatch.setattr("oltpsim.simulator.analytic.engine.solve", lambda *_: wrong)
    with pytest.raises(InternalError, match=r"no finite disks\.busy$"):
        analytic.simulate(tiny.system, 1)


# Open arrivals


def test_open_arrivals_that_fit_are_all_completed() -> None:
    result = result_of(case_of(OPEN), 1)
    assert result.transactions_per_s == pytest.approx(100.0)
    assert not [line for line in result.warnings if line.startswith("overloaded")]
    assert {one.time_by_s["connection"] for one in result.classes} == {0.0}


def test_overload_is_said_and_lets_response_times_grow() -> None:
    case = case_of(OVERLOADED)
    result = result_of(case, 1)
    assert result.transactions_per_s < 5000.0
    assert [line for line in result.warnings if line.startswith("overloaded: of 5,000 transactions/s that arrive")]
    left_over = 1.0 - result.transactions_per_s / 5000.0
    assert result.classes[0].time_by_s["connection"] == pytest.approx(left_over * (5.0 + 15.0 / 2.0))
    assert left_over * 19.9 < percentiles_s(case)[0, -1] < left_over * 20.0 + 0.1


# Percentiles


def quantile(share: float, mean: float, variance: float) -> float:
    """Of one machine; beside another, which must not matter."""
    first, second = (np.array([[[mean]], [[1.0]]]), np.array([[[variance]], [[0.5]]]))
    two = Mixture(np.ones((2, 1, 1)), first, second).quantiles(np.array([share]))
    alone = Mixture(np.ones((1, 1, 1)), first[:1], second[:1]).quantiles(np.array([share]))
    assert two[0] == alone[0]
    return float(two[0, 0, 0])


@pytest.mark.parametrize(("shape", "within"), [(1, 0.03), (2, 0.015), (5, 0.007), (50, 0.001)])
def test_percentiles_of_exponential_and_erlang_times(shape: int, within: float) -> None:
    for share in SHARES:
        exact = float(gamma.ppf(share, shape, scale=3.0 / shape))
        assert quantile(share, 3.0, 9.0 / shape) == pytest.approx(exact, rel=within)


@pytest.mark.parametrize("shape", [0.01, 0.1, 0.3, 0.7, 1.0, 4.0, 1e6])
def test_percentiles_never_fall_nor_are_negative(shape: float) -> None:
    found = [quantile(share, 1.0, 1.0 / shape) for share in np.linspace(0.001, 0.999, 200).tolist()]
    assert min(found) >= 0.0
    assert found == sorted(found)


def test_high_percentiles_rise_with_the_variance() -> None:
    for share in (0.95, 0.99, 0.999):
        found = [quantile(share, 2.0, variance) for variance in (0.0, 0.01, 0.1, 0.5, 1.0, 2.0, 4.0)]
        assert found == sorted(set(found))
        assert found[0] == pytest.approx(2.0, rel=0.004)
    assert quantile(0.99, 0.0, 0.0) == pytest.approx(0.0, abs=1e-9)


def test_mixture_is_of_the_mean_response_and_its_chances_sum_to_one() -> None:
    for settings in (FEW_BUFFERS, DIRECT, SOME_OF_EVERYTHING):
        case = case_of(settings)
        classes = np.arange(len(case.workload.classes))
        found = mixture(case.workload, case.parameters, case.solution, classes)
        assert found.chance.sum(axis=-1) == pytest.approx(1.0)
        means = (found.chance * found.mean_s).sum(axis=-1)[0]
        network_s = case.workload.network_s
        assert means + network_s == pytest.approx(case.solution.classes.total_s[0], rel=0.02)


def test_percentiles_of_a_random_number_of_waits() -> None:
    """Constant CPU time and a Poisson number of exponential waits; the twin takes their sum for one gamma."""
    draw = np.random.default_rng(1)
    times = np.sort(1.0 + draw.gamma(np.maximum(draw.poisson(0.5, 400_000), 1e-9), 2.0))
    case = case_of(FEW_BUFFERS)
    r, p = case.solution, case.parameters
    one_class = np.zeros_like(r.classes.cpu_s)
    one_class[:, 0] = 1.0
    alone = with_columns(
        with_columns(r, **{name: 0.0 * value for name, value in by_name(r).items()}),
        rate=r.rate,
        classes_bursts=np.ones_like(r.classes.cpu_s),
        classes_cpu_s=one_class,
        classes_disk_reads=0.5 * one_class,
        classes_read_s=one_class,
        disks_read_s=2.0 + 0.0 * r.rate,
        classes_total_s=2.0 * one_class,
    )
    slow = with_columns(p, storage_read_s=1e-9 + 0.0 * p.storage.read_s)  # all of a wait is queueing: exponential
    shares = np.array([0.8, 0.9, 0.95, 0.99])
    found = mixture(case.workload, slow, alone, np.array([0]))
    drawn = times[(shares * len(times)).astype(int)]
    assert found.quantiles(shares)[0, 0] == pytest.approx(drawn, rel=0.08)
    mean = (found.chance * found.mean_s).sum()
    variance = (found.chance * (found.variance_s2 + found.mean_s**2)).sum() - mean**2
    twin = [quantile(share, float(mean), float(variance)) for share in shares.tolist()]
    assert twin != pytest.approx(drawn, rel=0.08)


def in_a_storm(case: Case) -> Case:
    """The case as if it read from disks that are busy with heaps of writes."""
    known = {name.replace(".", "_"): value for name, value in by_name(case.solution).items()}
    storm = {"disks_writes_busy": 1.0, "disks_heaps": 1.0, "classes_read_s": 0.2, "classes_total_s": 0.2}
    changed = {name: np.full_like(known[name], value) for name, value in storm.items()}
    return replace(case, solution=with_columns(case.solution, **changed))


def test_percentiles_whose_model_error_is_large_are_not_printed(tiny: Case) -> None:
    """With a sentence and a reason each; a machine in memory, the twin, has p95 and its interval."""
    result = result_of(in_a_storm(tiny), 1)
    assert result.classes[0].p95_s is None
    assert result.classes[0].intervals is not None
    assert result.classes[0].intervals.p95 == PercentileInterval(None, None, "model error too large")
    [sentence] = [line for line in result.warnings if line.startswith(NO_PERCENTILES)]
    assert "the model error of p95 is above a factor of 5; --engine kernel has them" in sentence
    assert read_result(result_json(result)) == result
    twin = result_of(tiny, 1)
    p95_s, intervals = twin.classes[0].p95_s, twin.classes[0].intervals
    assert p95_s is not None
    assert intervals is not None
    assert intervals.p95.low_s is not None
    assert intervals.p95.high_s is not None
    assert p95_s == pytest.approx(math.sqrt(intervals.p95.low_s * intervals.p95.high_s))
    assert intervals.p95.high_s < 5.0 * p95_s
    assert not [line for line in twin.warnings if line.startswith(NO_PERCENTILES)]


def test_percentiles_of_many_machines_are_those_of_each() -> None:
    case = case_of(SOME_OF_EVERYTHING)
    p = case.parameters.repeated(3)
    policy = case.system.pool.replacement
    shares, classes = np.array([0.5, 0.95]), np.array([0, 3])
    many = response_quantiles_s(case.workload, p, solve(case.workload, p, policy), classes, shares)
    one = response_quantiles_s(case.workload, case.parameters, case.solution, classes, shares)
    assert (many == one).all()


# Intervals


@pytest.mark.parametrize(
    ("name", "share", "swap", "regime"),
    [
        ("cpu", 0.9, 0.0, "cpu"),
        ("disk 1", 0.9, 0.01, "disk"),
        ("row locks", 0.9, 0.0, "locks"),
        ("section", 0.9, 0.0, "locks"),
        ("web server", 0.9, 0.0, "cpu"),
        ("cpu", 0.5, 0.0, "light"),
        ("cpu", 0.5, 0.1, "swap"),
    ],
)
def test_regimes(tiny: Case, name: str, share: float, swap: float, regime: str) -> None:
    """`name`: of a part, devices' and locks' being those of the result."""
    result = result_of(tiny, 1)
    names = {"disk 1": result.devices[0].name, "section": result.locks[-1].name}
    classes = [replace(one, time_by_s=one.time_by_s | {"swap": swap * one.mean_s}) for one in result.classes]
    bottleneck = Bottleneck(names.get(name, name), share, "other", 0.1)
    assert regime_of(replace(result, bottleneck=bottleneck, classes=classes)) == regime


def test_a_storm_of_writes_widens_the_interval(tiny: Case) -> None:
    storm, calm = (result_of(case, 1).rate_per_min for case in (in_a_storm(tiny), tiny))
    assert storm.mean == calm.mean
    assert storm.log_half_width > 0.3
    assert calm.log_half_width < 0.15
    assert (calm.confidence, calm.mean) == (0.9, pytest.approx(math.sqrt(calm.low * calm.high)))
