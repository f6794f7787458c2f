"""Problems in words: the sentence names the key, or the document where no single key is to blame."""

from typing import Annotated, Literal, Self

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, model_validator

from oltpsim.models.input import Spec, WholeNumber, did_you_mean, repeated_name, specs_by_kind, validated, value_text
from oltpsim.simulator.errors import InputError


class SpinningDiskSpec(Spec):
    kind: Literal["spinning"] = "spinning"
    speed_rpm: WholeNumber = Field(ge=1, description="turns per minute")


class SolidDiskSpec(Spec):
    kind: Literal["solid"] = "solid"

    @model_validator(mode="after")
    def _refuses(self) -> Self:
        raise ValueError("is sold out")


DiskUnion = Annotated[SpinningDiskSpec | SolidDiskSpec, Field(discriminator="kind")]


class RunRecord(Spec):
    first: WholeNumber = 1
    disks: tuple[DiskUnion, ...] = ()
    by_name: dict[str, SpinningDiskSpec] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.first == 7:
            raise ValueError("is of a seventh run")
        return self


def problems(kind: type, data: object) -> list[str]:
    with pytest.raises(InputError) as caught:
        validated(kind, data, "file.yaml")
    return str(caught.value).splitlines()


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (3, "file.yaml: run record: got 3; expected keys with values"),
        ({"first": 7}, "file.yaml: run record: got {'first': 7}; is of a seventh run"),
        ({"first": "x"}, "file.yaml: first: got 'x'; must be a whole number"),
        ({"frist": 1}, "file.yaml: frist: unknown key (did you mean 'first'?); allowed: by_name, disks, first"),
        ({"by_name": {"a": {}}}, "file.yaml: by_name.a.speed_rpm: missing; add 'speed_rpm: ...', turns per minute"),
        ({"disks": [{"kind": "solid"}]}, "file.yaml: disks.0: got {'kind': 'solid'}; is sold out"),
        (
            {"disks": [{"kind": "spining"}]},
            "file.yaml: disks.0.kind: got 'spining' (did you mean 'spinning'?); allowed: spinning, solid",
        ),
        ({"disks": [{}]}, "file.yaml: disks.0.kind: got nothing; allowed: spinning, solid"),
    ],
)
def test_a_problem_names_its_key_or_its_document(data: object, sentence: str) -> None:
    assert problems(RunRecord, data) == [sentence]


def test_a_document_of_several_kinds_has_the_name_of_its_own() -> None:
    assert problems(DiskUnion, {"kind": "solid"}) == ["file.yaml: solid disk: got {'kind': 'solid'}; is sold out"]  # type: ignore[arg-type]


def test_each_problem_is_a_line_and_its_origin_may_differ() -> None:
    with pytest.raises(InputError) as caught:
        validated(RunRecord, {"first": "x", "disks": 3}, lambda problem: f"from {problem['loc'][0]}")
    lines = str(caught.value).splitlines()
    assert sorted(line.partition(":")[0] for line in lines) == ["from disks", "from first"]


def test_what_is_valid_comes_back_as_its_type() -> None:
    record = validated(RunRecord, {"disks": [{"kind": "spinning", "speed_rpm": 7200}]}, "file.yaml")
    assert record.disks == (SpinningDiskSpec(speed_rpm=7200),)


def test_kinds_are_those_of_a_union_only() -> None:
    assert specs_by_kind(DiskUnion) == {"spinning": SpinningDiskSpec, "solid": SolidDiskSpec}
    assert specs_by_kind(SpinningDiskSpec) == {}


def test_near_names_are_named_and_far_ones_are_not() -> None:
    assert did_you_mean("coers", ["cores", "model"]) == " (did you mean 'cores'?)"
    assert did_you_mean("zzz", ["cores", "model"]) == ""
    assert did_you_mean("x" * 100_000, ["cores", "model"]) == ""


def test_a_repeated_name_is_the_first_by_the_alphabet() -> None:
    assert repeated_name(["b", "a", "c", "b", "a"]) == "a"
    assert repeated_name(["b", "a", "c"]) is None
    assert repeated_name([]) is None


@given(st.one_of(st.none(), st.booleans(), st.integers(), st.text(), st.lists(st.integers())))
def test_a_value_is_shown_in_one_short_line(value: object) -> None:
    text = value_text(value)
    assert 0 < len(text) <= 60
    assert text.isprintable()
