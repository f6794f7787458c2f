"""A run has a length of time or an amount of work, never both and never neither."""

import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.models.wiring.start import MOST_WORK_S
from oltpsim.simulator.errors import InputError
from tests.simulator.tpcc_systems import TINY

WORK = ("interval.duration_s=null", "interval.warm_up_s=0", "interval.new_orders_per_client=10")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            ("interval.duration_s=null",),
            "give the length of the run, one of duration_s, new_orders_per_client and sustained: true",
        ),
        (WORK[1:], r"not several \(null takes one away that a base gives\)"),
        ((*WORK, "interval.warm_up_s=5"), "counts all of them: leave warm_up_s out"),
        ((*WORK, "interval.new_orders_per_client=0"), "must be greater than or equal to 1"),
        (
            (*WORK, "workload.arrivals={kind: open, connections: 2, transactions_per_s: 5}"),
            "transactions arrive by themselves",
        ),
        ((*WORK, "workload.mix={new_order: 0, payment: 0.88}"), "the mix has no new orders; give duration_s"),
    ],
)
def test_a_contradiction_is_refused(settings: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_scenario(TINY, settings)


def test_work_is_what_the_model_stops_at() -> None:
    model = build(load_scenario(TINY, WORK))
    assert model.work is not None
    assert (model.work.main_per_client, model.interval.end_ns) == (10, MOST_WORK_S * 10**9)
    assert build(load_scenario(TINY)).work is None
