"""Tables on devices of their own: both engines' trajectory, and that every page lies somewhere and nowhere twice."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oltpsim.models.wiring import by_table, most_pages
from oltpsim.simulator.form import extent_of
from oltpsim.simulator.form.placement import round_robin
from oltpsim.simulator.reference.write_back import neighbours
from tests.simulator.kernel.test_engine import EXAMPLES, MOST_EVENTS, SEEDS, SOAK
from tests.simulator.system_models import model_of_system
from tests.simulator.systems import DrawnSystem, systems_by_table
from tests.simulator.twins import Finished, differences, of_few_events

PAGE = 8192
# Columns as in a program: base, groups, pages of each, rows per page, region of index pages, fanout
REGIONS = np.array(
    [[0, 1, 4, 1, -1, 1], [4, 1, 6, 1, -1, 1], [10, 3, 30, 1, 1, 20], [100, 1, 100, 1, -1, 1]], dtype=np.int64
)
sizes = st.lists(st.tuples(st.integers(1, 40), st.integers(0, 10)), min_size=1, max_size=6)


@pytest.mark.uncounted
def test_both_engines_give_one_trajectory() -> None:
    seen: Counter[str] = Counter()

    @settings(EXAMPLES, max_examples=SOAK // 2 or 80)
    @given(system=systems_by_table(), seed=SEEDS)
    def both_engines_agree(system: DrawnSystem, seed: int) -> None:
        model, engines = of_few_events(model_of_system(system), seed, MOST_EVENTS), list[Finished]()
        assert differences(model, seed, finished=engines) == []
        requests = np.array(
            [device.by_purpose.get("write-back", 0) for device in engines[0].kernel.kernel.figures().counters.devices]
        )[: model.storage.data_devices]
        seen["write-back"] += bool(requests.any())
        seen["not over all"] += any(each.devices < model.storage.data_devices for each in model.placement)

    both_engines_agree()
    assert min(seen["write-back"], seen["not over all"]) > 10, seen


def test_tables_get_devices_by_their_size_in_order() -> None:
    """4 + (6 + 90) + 100 pages over ten devices: a fiftieth, a half and a half."""
    found = by_table(REGIONS, 10, PAGE)
    assert [(each.first_page, each.end_page, each.first_device, each.devices) for each in found] == [
        (0, 4, 0, 1), (4, 100, 0, 5), (100, 200, 5, 5),
    ]  # fmt: skip
    assert [each.start_bytes for each in found] == [0, 4 * PAGE, 0], "the second lies behind the first"
    assert most_pages(found, PAGE) == 4 + 20
    assert extent_of(found, 99) is found[1]


def regions_of_sizes(tables: list[tuple[int, int]]) -> np.ndarray:
    rows, base = [], 0
    for pages, interior in tables:
        if interior:
            rows.append([base, 1, interior, 1, -1, 1])
            base += interior
        rows.append([base, 1, pages, 1, len(rows) - 1 if interior else -1, 1])
        base += pages
    return np.array(rows, dtype=np.int64)


@given(tables=sizes, devices=st.integers(1, 9))
def test_no_two_pages_lie_at_one_place(tables: list[tuple[int, int]], devices: int) -> None:
    found = by_table(regions_of_sizes(tables), devices, PAGE)
    pages = sum(sum(each) for each in tables)
    places = [(each.device_of(page), each.bytes_before(page, PAGE)) for page in range(pages)
              for each in (extent_of(found, page),)]  # fmt: skip
    assert len(set(places)) == pages
    assert {device for device, _ in places} <= set(range(devices))
    assert max(byte for _, byte in places) < most_pages(found, PAGE) * PAGE


@pytest.mark.parametrize("devices", [1, 3])
def test_round_robin_is_one_extent(devices: int) -> None:
    (extent,) = round_robin(devices)
    for page in (0, 1, 7, 1000):
        assert (extent.device_of(page), extent.bytes_before(page, PAGE)) == (page % devices, page // devices * PAGE)


def test_neighbours_end_with_their_table() -> None:
    """Pages 3 and 4 lie side by side on device 0 but in two tables; of one table they would be one request."""
    found = by_table(REGIONS, 2, PAGE)
    assert [extent.devices for extent in found] == [1, 1, 1]
    assert neighbours([2, 3, 4, 5, 6], found, 8) == [range(2, 4), range(4, 7)]
    assert neighbours([2, 3, 4, 5, 6], found, 2) == [range(2, 4), range(4, 6), range(6, 7)]
    assert neighbours([2, 3, 4, 5, 6], round_robin(1), 8) == [range(2, 7)]
