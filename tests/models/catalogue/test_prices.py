"""Price lists: what parts cost by steps, what is printed, and which lists are old."""

import datetime as dt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oltpsim.models.catalogue import PriceList, PriceRow, Prices, chassis_specs, is_old, price_list
from oltpsim.simulator.errors import InputError


def test_the_pc_of_2006_costs_what_is_printed() -> None:
    """2,000 to 2,500 with 4 GB and as many SATA disks as possible; the Opteron server costs more."""
    pc, prices = chassis_specs()["amd64-pc-2006"], Prices((price_list("us-2006"),))

    def price(disks: int) -> float:
        parts = {"chassis/amd64-pc-2006": 1, f"cpus/{pc.processors[0].cpu}": 1, f"memory/{pc.memory[0].module}": 4,
                 f"disks/{pc.disks[0].disk}": disks}  # fmt: skip
        return sum(prices.cost(part, "piece", count) for part, count in parts.items())

    assert 2000 <= price(max(pc.disks[0].pieces)) <= 2500
    assert price(1) < 2000, "the negative twin: with one disk it is cheaper than printed"


def test_old_prices_are_told() -> None:
    today = dt.date(2026, 11, 22)
    assert is_old(price_list("us-2006").date, today)
    assert not is_old(price_list("aws-us-east-1").date, today)
    assert is_old(price_list("aws-us-east-1").date, dt.date(2027, 7, 7))


STEPS = st.lists(st.tuples(st.integers(0, 10_000), st.floats(0, 100)), min_size=1, max_size=5, unique_by=lambda s: s[0])


@given(STEPS, st.floats(0, 20_000), st.floats(0, 5_000))
def test_a_price_by_steps_never_falls_and_never_jumps(
    steps: list[tuple[int, float]], units: float, more: float
) -> None:
    rows = tuple(PriceRow(part="volumes/x", amount=amount, per="gib_month", above=above) for above, amount in steps)
    prices = Prices(
        (PriceList(name="x", date=dt.date(2026, 1, 1), currency="USD", term="purchase", rows=rows, source="x"),)
    )
    low, high = (prices.cost("volumes/x", "gib_month", each) for each in (units, units + more))
    dearest = max(amount for _, amount in steps)
    assert -1e-6 <= high - low <= dearest * more + 1e-6 * (1 + high)


def test_a_step_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    text = (
        "name: x\ndate: 2026-01-01\ncurrency: USD\nterm: purchase\nsource: mine\nrows:\n"
        "  - {part: volumes/gp3, amount: 1, per: gib_month}\n  - {part: volumes/gp3, amount: 2, per: gib_month}\n"
    )
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(InputError, match=r"mine.yaml: rows: .*volumes/gp3 per gib_month above 0 is there 2 times"):
        price_list(file)
    file.write_text(text.replace("amount: 2, per: gib_month", "amount: 2, per: gib_month, above: 100"))
    assert len(price_list(file).rows) == 2
