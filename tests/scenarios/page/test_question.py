"""Questions of the page: addresses, sliders, and what a browser may send."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oltpsim.scenarios.page.question import (
    KEYS,
    PageQuestion,
    address_of,
    questions_in,
    read_question,
    slider_values,
    sliders_of,
    value_words,
)
from oltpsim.simulator.errors import InputError

values = st.dictionaries(st.sampled_from(sorted(KEYS)), st.floats(0.001, 1e11), max_size=5)
machines = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=60)


@given(machines, values, machines, values)
def test_an_address_gives_back_its_questions(a: str, of_a: dict[str, float], b: str, of_b: dict[str, float]) -> None:
    questions = [read_question({"machine": a, "values": of_a}), read_question({"machine": b, "values": of_b})]
    found = questions_in(address_of(questions))
    assert [each.machine for each in found] == [a, b]
    assert [each.digest for each in found] == [each.digest for each in questions]
    assert questions_in(address_of(questions[:1]))[0].digest == questions[0].digest
    modelled = [replace(each, model="percona-sm863") for each in questions]
    assert questions_in(address_of(modelled)) == [replace(each, model="percona-sm863") for each in found]
    assert modelled[0].digest != questions[0].digest


def test_questions_that_differ_have_other_digests() -> None:
    one = PageQuestion("v20z", (("machine.memory_gib", 4.0),))
    assert one.digest != PageQuestion("v20z", (("machine.memory_gib", 4.5),)).digest
    assert one.digest != PageQuestion("v20z").digest


def test_an_empty_address_asks_nothing() -> None:
    assert questions_in("") == []
    assert questions_in("?utm=1") == []


HOSTILE: list[Any] = [
    None,
    7,
    [],
    "v20z",
    {},
    {"machine": ""},
    {"machine": "  \n "},
    {"machine": 5},
    {"machine": "x" * 301},
    {"machine": "v20z\x00"},
    {"machine": "v20z\n8 cores"},
    {"machine": "v20z", "values": [1]},
    {"machine": "v20z", "values": {"engine": "reference"}},
    {"machine": "v20z", "values": {"machine.memory_gib": "1 GiB; rm -rf"}},
    {"machine": "v20z", "values": {"machine.memory_gib": None}},
    {"machine": "v20z", "values": {"machine.memory_gib": float("nan")}},
    {"machine": "v20z", "values": {"machine.memory_gib": "inf"}},
    {"machine": "v20z", "values": {"machine.memory_gib": -1}},
    {"machine": "v20z", "values": {"machine.memory_gib": 0}},
    {"machine": "v20z", "values": {"machine.memory_gib": 10**400}},
    {"machine": "v20z", "values": {"machine.memory_gib": 1e300}},
    {"machine": "v20z", "values": {"__class__": 1}},
    {"machine": "v20z", "model": 5},
    {"machine": "v20z", "model": ["published"]},
    {"machine": "v20z", "model": "../../etc/passwd"},
    {"machine": "v20z", "model": "/etc/passwd"},
    {"machine": "v20z", "model": "model.json"},
    {"machine": "v20z", "model": "x" * 41},
    {"machine": "v20z", "model": "<script>"},
]


@pytest.mark.parametrize("data", HOSTILE, ids=repr)
def test_what_is_no_question_is_refused_in_words(data: object) -> None:
    with pytest.raises(InputError) as refused:
        read_question(data)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("search", ["?a=" + "x" * 5000, "?a=v20z&a.engine=kernel", "?a=v20z&a.machine.cpu.cores=x"])
def test_an_address_that_cant_be_is_refused(search: str) -> None:
    with pytest.raises(InputError):
        questions_in(search)


@pytest.mark.parametrize(
    "machine", ["/etc/passwd", "../../etc/passwd", "v20z.yaml", "./pyproject.toml", "../v20z", "<script>", "v20"]
)
def test_a_path_is_no_machine(machine: str) -> None:
    with pytest.raises(InputError) as refused:
        PageQuestion(machine).scenario("analytic")
    assert "root:" not in str(refused.value)


def test_a_job_is_no_question_of_the_page() -> None:
    with pytest.raises(InputError, match="runs no transactions"):
        PageQuestion("published/scan-v20z").scenario("analytic")


def test_a_slider_goes_through_the_scenarios_own_value_and_the_one_that_is_set() -> None:
    scenario = PageQuestion("v20z").scenario("analytic").scenario
    for slider in sliders_of(scenario):
        own = {"machine.memory_gib": 2, "database.pool.buffers": 120_000, "machine.disks.count": 1}.get(slider.key)
        places = slider_values(slider, scenario, 170.0)
        assert places == sorted(set(places))
        assert own is None or float(own) in places
        assert 170.0 in places
        assert all(each >= slider.least for each in places)
        assert all(value_words(slider, each) for each in places)


def test_a_scenario_without_a_number_has_no_slider_for_it() -> None:
    terminals = PageQuestion("million-orders").scenario("analytic").scenario
    assert "workload.arrivals.clients" not in {each.key for each in sliders_of(terminals)}
    described = PageQuestion("8 cores, 32 GB, SSD, PostgreSQL 16").scenario("analytic").scenario
    assert {each.key for each in sliders_of(described)} == set(KEYS)
