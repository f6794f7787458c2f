"""Question of a plan: a load with its growth, times that answers may take, data, money."""

from collections.abc import Sequence
from dataclasses import dataclass

from oltpsim.models.input import did_you_mean, parse_quantity, validated, value_text
from oltpsim.models.scenario import IntervalSpec, ScenarioSpec
from oltpsim.models.wiring import memory_plan
from oltpsim.models.workloads import OpenArrivalsSpec
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import GIB, KIB

HELD = 128
"""warehouses whose pages stand for all when many machines are calculated; models/wiring/sampling.py"""
MANY_WAREHOUSES = 1000
"""warehouses over which the size of one is taken: the items, which all share, count for little"""
EVEN = 16
"""many warehouses are taken as a multiple of this, or of `HELD`, so that an even share of them can be sampled"""
COUNTED_S = 60.0
"""an interval of steady work; how long it is matters to nothing that is calculated"""


@dataclass(frozen=True)
class ResponseObjective:
    """`share` of the transactions of a class end within `limit_s`."""

    transaction: str
    share: float
    limit_s: float


@dataclass(frozen=True)
class PlanQuestion:
    """Question of a plan. `base`: database, operating system, network, and the workload as it is at the horizon's end.

    Without a target the machine is loaded as `base` does it, and what counts is the cost for a rate, or within a budget
    the rate.
    """

    base: ScenarioSpec
    target_per_min: float | None
    """at the horizon's end"""
    objectives: tuple[ResponseObjective, ...] = ()
    budget: float | None = None
    years: float = 3.0
    spares: int = 0
    """machines that are bought beside, in case one fails"""
    sure: float = 0.8
    """least probability that the chosen machine reaches the target"""
    pool_shares: tuple[float, ...] = ()
    """shares of memory that the buffer pool may have; that of the base's machine if none"""
    fill: float = 0.8
    """most of a volume that data may take when it is bought for it; files that grow may need more room still"""
    growth_per_month: float = 0.0
    months: float = 0.0

    @property
    def connections(self) -> int:
        """Clients, or connections, of the load."""
        return self.base.workload.clients

    @property
    def growth(self) -> float:
        """Factor from today to the horizon's end."""
        return float((1.0 + self.growth_per_month) ** self.months)

    @property
    def data_gib(self) -> float:
        """The tables' size at the horizon's end."""
        return float(self.base.workload.loaded_pages * self.base.database.page_kib * KIB / GIB)

    @property
    def room_gib(self) -> float:
        """Size that volumes must have: the data with room for its files to grow in, or as `fill` asks for."""
        files = self.base.workload.file_pages * self.base.database.page_kib * KIB / GIB
        return max(float(files), self.data_gib / self.fill)

    @property
    def shares(self) -> tuple[float, ...]:
        """Shares of memory that are tried for the buffer pool."""
        if self.pool_shares:
            return self.pool_shares
        return (memory_plan(self.base).pool_bytes / GIB / self.base.machine.memory_gib,)


def per_s(base: ScenarioSpec, main_per_min: float) -> float:
    """Transactions of the whole mix per second at a rate of the main class."""
    return main_per_min / 60.0 / base.workload.main_share


def under_load(
    base: ScenarioSpec, target_per_min: float | None, data_gib: float | None, connections: int, active: float | None
) -> ScenarioSpec:
    """The base under the load that is asked for, warm. Data that isn't given is the base's. Raises InputError.

    At a target transactions arrive by themselves, from users of any warehouse. Refuses a workload whose units have no
    users of their own.
    """
    changed = base.unit_workload
    if data_gib is not None:
        many = changed.with_units(MANY_WAREHOUSES).loaded_pages * base.database.page_kib * KIB / GIB
        changed = changed.with_units(_even(data_gib / many * MANY_WAREHOUSES))
    if active is not None:
        changed = changed.with_units(changed.loaded, min(_even(active * changed.loaded), changed.loaded))
    if target_per_min is not None:
        if changed.main_share <= 0:
            raise InputError("plan: --target counts new orders, of which the mix of this scenario has none")
        arrivals = validated(
            OpenArrivalsSpec,
            {"transactions_per_s": per_s(base, target_per_min), "connections": connections},
            f"plan: --target {target_per_min:,.0f}",
        )
        changed = changed.open_to_all(arrivals)
    parts = even_parts(changed.size, least_held=HELD)
    return base.model_copy(
        update={
            "workload": changed,
            "sampling_fraction": min(base.sampling_fraction, 1.0 / parts[-1]),
            "measured": None,
            "notes": (),
            "engine": "analytic",
            "interval": IntervalSpec(start="warm", duration_s=COUNTED_S),
        }
    )


def plan_question(
    base: ScenarioSpec,
    target_per_min: float | None,
    data_size: str | None,
    growth: float,
    months: float,
    connections: int,
    active: float | None,
    objectives: tuple[ResponseObjective, ...],
) -> PlanQuestion:
    """The question at the horizon's end: load and data grow by a share each month. Raises InputError."""
    times = (1.0 + growth) ** months
    data_gib = None if data_size is None else _positive(data_size, "memory", "GiB", "plan: --data-size") * times
    if data_size is None and times != 1.0:
        data_gib = PlanQuestion(base, None).data_gib * times
    target = None if target_per_min is None else target_per_min * times
    if objectives and target is None:
        raise InputError("plan: --p95 and --p99 are asked at a load; give --target too")
    scenario = under_load(base, target, data_gib, connections, active)
    return PlanQuestion(scenario, target, objectives, growth_per_month=growth, months=months)


def parse_share(text: str, option: str, *, may_be_0: bool = False) -> float:
    """Read a share of more than 0, at most 1, such as '25%' or 0.25. Raises InputError."""
    number = text.strip().removesuffix("%")
    try:
        found = float(number) / (1.0 if number == text.strip() else 100.0)
    except ValueError as error:
        raise InputError(f"plan: {option}: got {text!r}; expected a share such as 25% or 0.25") from error
    if not 0.0 <= found <= 1.0 or (found == 0.0 and not may_be_0):
        range_ = "from 0 % to 100 %" if may_be_0 else "above 0 %, and at most 100 %"
        raise InputError(f"plan: {option}: got {text!r}; must be {range_}")
    return found


def even_parts(warehouses: int, least_held: int) -> list[int]:
    """Into how many equal parts so many warehouses can be divided, at least so many in each if there are as many."""
    most = max(warehouses // least_held, 1)
    return [parts for parts in range(1, most + 1) if warehouses % parts == 0]


def _even(warehouses: float) -> int:
    """Nearest number of warehouses that can be sampled evenly, within a few percent."""
    step = HELD if warehouses >= EVEN * HELD else EVEN if warehouses >= EVEN * EVEN else 1
    return max(1, step * round(warehouses / step))


def parse_objective(text: str, share: float, option: str, classes: Sequence[str]) -> ResponseObjective:
    """Read '50 ms', of the first class, or 'payment=20 ms'. Raises InputError."""
    name, equals, limit = text.rpartition("=")
    name = name.strip().replace("_", " ").lower() if equals else classes[0]
    if name not in classes:
        raise InputError(
            f"plan: {option} {text!r}: unknown transaction {name!r}{did_you_mean(name, classes)}; one of "
            f"{', '.join(classes)}"
        )
    return ResponseObjective(name, share, _positive(limit.strip(), "time", "s", f"plan: {option}"))


def _positive(text: str, dimension: str, unit: str, where: str) -> float:
    """A positive quantity from the command line in `unit`. Raises InputError; `where`: command and option."""
    try:
        value = float(parse_quantity(text, dimension, unit))
    except ValueError as error:
        raise InputError(f"{where}: got {value_text(text)}; {error}") from error
    if value <= 0:
        raise InputError(f"{where}: got {text!r}; must be greater than 0")
    return value
