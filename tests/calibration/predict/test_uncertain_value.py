"""The uncertain value: its components add up, what two values share leaves their ratio, and its chances are true."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy

from oltpsim.calibration.fit import Circumstances
from oltpsim.calibration.predict import Component, UncertainValue

HERE = Circumstances("machine, database", "one", "cpu", (1.0, 2.0))
KNOWN, ROUGH = Component("known", 0.1, "speed"), Component("rough", 0.2, "model", 3.0, HERE)
VALUE = UncertainValue(1_000.0, (KNOWN, ROUGH, Component("chance", 0.05)))


def test_variances_add_up_and_parts_come_largest_first() -> None:
    assert VALUE.sd == pytest.approx(math.sqrt(0.1**2 + 0.2**2 + 0.05**2))
    assert [part.what for part in VALUE.parts] == ["rough", "known", "chance"]
    two = VALUE.plus([Component("known", -0.1, "another")])
    assert two.sd_of("known") == pytest.approx(0.1 * math.sqrt(2.0))
    assert len(two.parts) == 3
    assert two.without("known") == replace(VALUE, components=VALUE.components[1:])


def test_the_interval_is_students_by_the_rough_components_share() -> None:
    freedom = 3.0 * (VALUE.sd / 0.2) ** 4
    width = VALUE.sd * float(scipy.stats.t.ppf(0.95, freedom))
    assert VALUE.interval == pytest.approx((1_000.0 * math.exp(-width), 1_000.0 * math.exp(width)))
    exact = UncertainValue(1_000.0, (KNOWN,))
    assert exact.log_half_width == pytest.approx(1.644854 * 0.1, rel=1e-4)
    assert replace(exact, confidence=0.5).high < exact.high


def test_what_is_wrong_of_both_leaves_their_ratio() -> None:
    ratio = replace(VALUE, centre=2_000.0) / VALUE
    assert ratio.value == 2.0
    assert ratio.sd == pytest.approx(0.05 * math.sqrt(2.0)), "chance has no key: it is each one's own"
    apart = replace(VALUE, components=tuple(replace(each, key="") for each in VALUE.components))
    assert (apart / apart).sd == pytest.approx(math.sqrt(2.0) * VALUE.sd)
    against = replace(VALUE, components=(replace(KNOWN, sd=-0.1), *VALUE.components[1:]))
    assert (against / VALUE).sd_of("known") == pytest.approx(0.2), "one falls where the other rises"


def test_circumstances_say_how_alike_the_models_error_is() -> None:
    def ratio_sd(at: Circumstances) -> float:
        other = UncertainValue(1_000.0, (replace(ROUGH, at=at),))
        return (other / UncertainValue(1_000.0, (ROUGH,))).sd

    assert ratio_sd(HERE) == 0.0
    alike = ratio_sd(replace(HERE, setup="two"))
    assert 0.0 < alike < ratio_sd(replace(HERE, setup="two", regime="disk"))
    assert ratio_sd(replace(HERE, setup="two", machine="another")) == pytest.approx(0.2 * math.sqrt(2.0))


def test_chances_and_shortfalls_are_those_of_draws() -> None:
    drawn = 1_000.0 * np.exp(VALUE.sd * np.random.default_rng(1).standard_t(VALUE.freedom, 200_000))
    assert VALUE.chance_of(1_000.0) == pytest.approx(0.5)
    assert VALUE.chance_of(1_200.0) == pytest.approx(float((drawn >= 1_200.0).mean()), abs=0.005)
    missing = 1_200.0 - drawn[drawn < 1_200.0]
    assert VALUE.mean_shortfall(1_200.0) == pytest.approx(float(missing.mean()), rel=0.02)
    assert VALUE.mean_shortfall(1e-300) == 0.0
    nothing = replace(VALUE, centre=0.0)
    assert (nothing.chance_of(1.0), nothing.mean_shortfall(1.0)) == (0.0, 1.0)


def test_a_scale_has_an_end_and_a_negligible_beginning() -> None:
    share = UncertainValue(0.95, (Component("known", 0.1),), negligible=0.01, most=1.0)
    assert share.high == 1.0
    assert math.log((share.value + 0.01) / (share.low + 0.01)) == pytest.approx(share.log_half_width)
    assert replace(share, most=None).high > 1.0
    assert replace(share, centre=0.001).low == 0.0
    beyond = replace(share, centre=1.05)
    assert (beyond.value, beyond.low > share.low) == (1.0, True)
