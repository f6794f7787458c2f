"""The V20z explained once for all tests, and scenarios as the analytic engine answers for them."""

from functools import cache
from pathlib import Path

from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.library import load_scenario_file, scenario_path
from oltpsim.scenarios.questions.explain import (
    DISK_STEP,
    MEMORY_STEP,
    ExplainOptions,
    Explanation,
    explain_scenario,
    for_analytic_engine,
)
from oltpsim.scenarios.questions.explain.upgrades import UnitPrice

TINY = str(Path(__file__).with_name("tiny.yaml"))


def scenario(name: str, *changes: str) -> ScenarioSpec:
    """A scenario with changes, for the analytic engine."""
    return for_analytic_engine(load_scenario_file(scenario_path(name), changes))


@cache
def explained_v20z() -> Explanation:
    """Every answer, of a machine whose memory and disks have prices."""
    prices = {MEMORY_STEP: UnitPrice(80.0, "USD", "test"), DISK_STEP: UnitPrice(300.0, "USD", "test")}
    return explain_scenario(
        scenario("v20z"), ExplainOptions(prices, growth_per_year=0.2, load_per_min=3000.0), lambda _: None
    )
