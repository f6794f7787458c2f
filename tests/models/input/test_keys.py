"""Dotted keys: what stands at them, and setting it, in lists too."""

from typing import Any

import pytest

from oltpsim.models.input import numbered_words, set_value, value_at

ROOT: dict[str, Any] = {"a": {"b": [{"name": "x", "c": 1}, {"of": "y", "c": 2}, [5, 6]]}}


@pytest.mark.parametrize(
    ("key", "value"),
    [("a.b[0].c", 1), ("a.b[x].c", 1), ("a.b[y].c", 2), ("a.b[2][1]", 6), ("a.b[0]", {"name": "x", "c": 1})],
)
def test_members_of_lists(key: str, value: object) -> None:
    assert value_at(ROOT, key) == value


@pytest.mark.parametrize("key", ["a.b[3].c", "a.b[z].c", "a.b[].c", "a[0]", "a.b.0.c", "a.b[-1].c", "a.b[0", "a.b0].c"])
def test_no_members(key: str) -> None:
    assert value_at(ROOT, key) is None


def test_a_member_is_set_and_none_is_made() -> None:
    root: dict[str, Any] = {"b": [{"of": "x", "c": 1}]}
    set_value(root, "b[x].c", 3)
    set_value(root, "b[0].d", 4)
    set_value(root, "e.f", 5)
    assert root == {"b": [{"of": "x", "c": 3, "d": 4}], "e": {"f": 5}}
    for key in ("b[1].c", "b[y].c"):
        with pytest.raises(KeyError):
            set_value(root, key, 1)


def test_two_keys_of_one_value_have_the_same_words() -> None:
    assert numbered_words(ROOT, "a.b[y].c") == numbered_words(ROOT, "a.b[1].c") == ("a", "b", "[1]", "c")
    assert numbered_words(ROOT, "a.b[x].c") != numbered_words(ROOT, "a.b[1].c")
