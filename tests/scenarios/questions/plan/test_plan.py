"""`oltpsim plan`: its answers for people and programs, its refusals, its exit status."""

import csv
import io
import json
from pathlib import Path

import pytest

from oltpsim.scenarios.commands.cli import main

ARTICLE = ["plan", "published/box-fc4-4sata", "--prices", "us-2006", "--quiet"]
"""which machine of 2006 is a suitable building block for a server farm?"""
SMALL = ["plan", "postgresql-15", "--prices", "us-2024", "--candidates", "epyc-server-1u", "--data-size", "40 GiB",
         "--quiet", "--confirm", "0"]  # fmt: skip


def said(capsys: pytest.CaptureFixture[str], words: list[str], status: int = 0) -> str:
    assert main(words) == status
    return capsys.readouterr().out


def test_the_articles_building_block(capsys: pytest.CaptureFixture[str]) -> None:
    """The article expects the lowest cost from a commodity AMD64 PC with 4 GB and as many SATA disks as possible."""
    found = json.loads(said(capsys, [*ARTICLE, "--confirm", "0", "--output", "json"]))
    assert found["choice"].startswith("amd64-pc-2006: 1 x amd64-2000, 4 GiB, ")
    cost = {each["name"]: each["cost"] / each["per_min"] for each in found["listed"]}
    several = min(cost[f"amd64-pc-2006: 1 x amd64-2000, 4 GiB, {disks} x sata-7200-2005"] for disks in (3, 4))
    assert several <= 1.03 * min(cost.values()), "and more disks are as good as fewer, or better"
    assert all(line["old"] for line in found["listed"][0]["bill"])


def test_a_target_has_a_bill_a_probability_and_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    words = [*SMALL, "--target", "20000", "--p95", "50 ms", "--p99", "payment=80 ms"]
    text = said(capsys, words)
    for part in ("buy ", "holds ", "probability ", "cost ", "rejected", "frontier", "OLD PRICES", "no calibration"):
        assert part in text, part
    found = json.loads(said(capsys, [*words, "--output", "json"]))
    choice = next(each for each in found["listed"] if each["name"] == found["choice"])
    assert choice["chance"] >= found["sure"]
    assert choice["cost"] == pytest.approx(sum(line["amount"] for line in choice["bill"]))
    assert choice["low_per_min"] < choice["per_min"] < choice["high_per_min"]
    rows = list(csv.DictReader(io.StringIO(said(capsys, [*words, "--output", "csv"]))))
    assert len(rows) == found["candidates"]
    assert sum(row["verdict"] != "does what is asked" for row in rows) == sum(found["rejected"].values())
    assert all(bool(row["reason"]) == (row["verdict"] != "does what is asked") for row in rows)


def test_what_cannot_be_decided_at_the_most_that_a_machine_holds_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """At most, all connections are in use: how long answers then take isn't known, nor so whether they meet a limit."""
    words = [*SMALL, "--target", "20000", "--output", "json"]
    doubts = [json.loads(said(capsys, [*words, *p95]))["listed"][0]["doubts"] for p95 in (["--p95", "50 ms"], [])]
    assert any(each.startswith("at the most that it holds p95 of new order can't be decided") for each in doubts[0])
    assert not any("can't be decided" in each for each in doubts[1])


def test_spares_and_years_are_paid_and_growth_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    plain = json.loads(said(capsys, [*SMALL, "--target", "20000", "--output", "json"]))
    more = json.loads(said(capsys, [*SMALL, "--target", "20000", "--spares", "1", "--output", "json"]))
    assert min(each["cost"] for each in more["listed"]) == 2.0 * min(each["cost"] for each in plain["listed"])
    grown = json.loads(
        said(capsys, [*SMALL, "--target", "20000", "--growth", "2%", "--months", "24", "--output", "json"])
    )
    assert grown["target_per_min"] == pytest.approx(20000 * 1.02**24)
    assert grown["data_gib"] == pytest.approx(plain["data_gib"] * 1.02**24, rel=0.06)


def test_nothing_is_bought_that_is_not_sure(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, [*SMALL, "--target", "20000000"], status=1)
    assert "nothing: no candidate does what is asked" in text
    assert "processors too slow" in text
    text = said(capsys, [*SMALL, "--target", "20000", "--budget", "100"], status=1)
    assert "over the budget" in text
    assert "the budget is 100" in " ".join(text.split())


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--candidates", "amd64-pc-2060", "--prices", "us-2006"], "none in the catalogue (did you mean"),
        (["--target", "1000", "--p95", "new orders=50 ms"], "unknown transaction 'new orders'"),
        (["--target", "1000", "--p95", "50"], "--p95"),
        (["--p95", "50 ms"], "give --target too"),
        (["--growth", "200%", "--months", "3"], "--growth"),
        (["--prices", "us-1999"], "us-1999"),
        (["--report", "out/"], "folder"),
    ],
)
def test_bad_words_are_refused(
    words: list[str], problem: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = [word.replace("out/", str(tmp_path)) for word in words]
    assert main(["plan", "postgresql-15", *words, "--quiet", "--confirm", "0"]) == 2
    assert problem in capsys.readouterr().err


def test_the_best_are_simulated(capsys: pytest.CaptureFixture[str]) -> None:
    words = [*SMALL, "--target", "4000", "--p95", "50 ms", "--confirm", "1", "--output", "json"]
    found = json.loads(said(capsys, words))
    confirmed = [each["confirmed"] for each in found["listed"] if each["confirmed"] is not None]
    assert confirmed
    assert all(each["rate_per_min"] == pytest.approx(4000, rel=0.1) for each in confirmed)
    assert confirmed[0]["holds"]
