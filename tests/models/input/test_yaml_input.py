"""YAML that the program writes, which it reads, and its two parsers, which agree."""

import pytest
import yaml

from oltpsim.models.input import parse_yaml, yaml_input, yaml_text
from oltpsim.scenarios.library import library_files
from oltpsim.simulator.errors import InputError

SHARED = {"disk": "Größe 5", "rpm": [7200, 10_000]}
DATA = {"b": SHARED, "a": [SHARED, {"sizes": [1.5, 2.0], "names": ["x", "y"]}]}


@pytest.mark.parametrize("leaves_on_a_line", [False, True])
def test_what_is_written_reads_back_in_its_order(leaves_on_a_line: bool) -> None:
    text = yaml_text(DATA, leaves_on_a_line=leaves_on_a_line)
    assert parse_yaml(text, "") == DATA
    assert text.startswith("b:")
    assert "Größe" in text
    assert "rpm: [7200, 10000]" in text


def test_by_the_library_alone_what_is_shared_would_be_refused() -> None:
    with pytest.raises(InputError, match="anchors"):
        parse_yaml(yaml.safe_dump(DATA), "")


REFUSED = (
    *("a: &x 1", "a: *x", "a: !!int 3", "a: 1\na: 2", "1: 2", "a: [1", "a: b: c", "\t- a", "a:\tb", "a: {b: }}"),
    *("a: \x01", "{" * 40 + "}" * 40, "a: 1\n---\nb: 2", "%TAG ! tag:x,2000:\n---\na: !y 1", "? [a]\n: 1"),
)


def by_either_parser(text: str, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Data, or the sentence of the refusal: by libyaml where it may, and without it."""
    found: list[object] = []
    for loader in (yaml_input.QuickLoader, yaml_input.PlainLoader):
        monkeypatch.setattr(yaml_input, "QuickLoader", loader)
        try:
            found.append(parse_yaml(text, "file"))
        except InputError as error:
            found.append(str(error))
    return found


@pytest.mark.parametrize("text", REFUSED)
def test_both_parsers_refuse_the_same_by_the_same_sentence(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    quick, plain = by_either_parser(text, monkeypatch)
    assert isinstance(quick, str)
    assert quick.startswith("file: unreadable YAML")
    assert quick == plain


@pytest.mark.parametrize("name", ["v20z", "postgresql-15", "innodb/sysbench-tpcc-io1"])
def test_both_parsers_read_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert yaml_input.QuickLoader is not yaml_input.PlainLoader
    quick, plain = by_either_parser(library_files()[name].read_text(encoding="utf-8"), monkeypatch)
    assert isinstance(quick, dict)
    assert quick == plain


def test_what_looks_like_a_merge_a_time_or_an_octal_number_is_text() -> None:
    text = "<<: {a: 1}\nb: 20:00\nc: 010\nd: Yes\ne: 1e3"
    assert parse_yaml(text, "") == {"<<": {"a": 1}, "b": "20:00", "c": "010", "d": "Yes", "e": 1000.0}
