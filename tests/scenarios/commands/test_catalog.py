"""oltpsim catalog: lists say whose an entry is, prices how old they are, and imports what they made and left out."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from oltpsim.models.catalogue.entries import FOLDER_VARIABLE
from oltpsim.scenarios.commands import cli
from oltpsim.scenarios.commands.cli import main

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "catalogue"
Output = pytest.CaptureFixture[str]


def said(capsys: Output, *words: str) -> str:
    assert main(words) == 0
    return capsys.readouterr().out


def test_an_import_tells_what_it_made_and_left_out_and_is_used_by_its_folder(capsys: Output, tmp_path: Path) -> None:
    into = str(tmp_path / "mine")
    out = said(capsys, "catalog", "import", str(SAMPLES / "ec2instances.json"), "--date", "2026-01-01", "--into", into)
    assert out.splitlines()[:2] == [
        "ec2instances.json: ec2instances; 3 machines, 15 prices", f"  {into}/instances/ec2instances-aws-m7i.csv  1",
    ]  # fmt: skip
    assert out.endswith(f"\nuse it: oltpsim --catalog {into} COMMAND\n")
    assert "\nleft out\n  1: shape: CPU credits, which aren't modelled: t3.large\n" in out
    before = said(capsys, "catalog", "list", "instances")
    assert "yours" not in before
    after = said(capsys, "--catalog", into, "catalog", "list", "instances").splitlines()
    assert "  m7i.large (yours, in place of the program's)" in after
    assert "  i4i.8xlarge" in after
    listed = said(capsys, "--catalog", into, "catalog", "list", "prices")
    assert "  ec2instances-us-east-1-on-demand (yours)\n" in listed
    imported = "imported from ec2instances.json"
    assert imported in said(capsys, "--catalog", into, "catalog", "show", "instances", "m7i.large")
    assert imported not in said(capsys, "catalog", "show", "instances", "m7i.large")
    assert FOLDER_VARIABLE not in os.environ, "a command line leaves nothing behind"


def test_a_list_of_which_nothing_fits_is_refused_with_the_reasons(capsys: Output, tmp_path: Path) -> None:
    file = tmp_path / "instances.json"
    file.write_text(
        json.dumps([{"instance_type": "p5.large", "GPU": 1, "pricing": {"us-east-1": {}}}]), encoding="utf-8"
    )
    assert main(["catalog", "import", str(file), "--date", "2026-01-01", "--into", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert err.startswith(
        "error: instances.json: nothing in it fits the catalogue; 1: shape: has accelerators: p5.large; "
    )


def test_the_command_line_knows_the_variable_by_the_name_that_the_catalogue_reads() -> None:
    assert cli.FOLDER_VARIABLE == FOLDER_VARIABLE


def test_check_tells_what_has_no_price_and_what_only_has_one(capsys: Output, tmp_path: Path) -> None:
    assert said(capsys, "catalog", "check").count("\n") == 1
    into = str(tmp_path)
    said(capsys, "catalog", "import", str(SAMPLES / "my-machines.csv"), "--date", "2026-01-01", "--into", into)
    metal = tmp_path / "metal.csv"
    metal.write_text("part,amount,per,date,currency,term\ninstances/z9.metal,10.98,hour,2026-07-06,USD,on demand\n")
    said(capsys, "catalog", "import", str(metal), "--into", into)
    out = said(capsys, "--catalog", into, "catalog", "check").splitlines()[1:]
    assert out == [
        "2 for sale without a price in any list: instances/rack-7, instances/vm-small",
        "1 with a price, but the catalogue has no such machine: instances/z9.metal",
    ]


def test_a_price_list_says_how_old_it_is_if_it_is(capsys: Output) -> None:
    old = said(capsys, "catalog", "show", "prices", "us-2006").splitlines()
    assert old[:2] == ["prices/us-2006", "  parts in the United States, 2006; purchase; USD; 2006-06-01"]
    assert old[2].startswith("  prices of 2006-06-01: ")
    assert old[2].endswith(" years old")
    steps = said(capsys, "catalog", "show", "prices", "aws-us-east-1")
    assert "gib_month" in steps
    assert "request_per_s_month, above 32000" in steps


def test_an_old_catalogue_folder_or_date_is_one_sentence(capsys: Output, tmp_path: Path) -> None:
    assert main(["--catalog", str(tmp_path / "none"), "catalog", "list"]) == 2
    assert "no such folder; expected one with folders such as instances and prices" in capsys.readouterr().err
    assert main(["catalog", "import", str(SAMPLES / "my-prices.csv"), "--date", "1.3.2026"]) == 2
    assert capsys.readouterr().err == "error: --date: got '1.3.2026'; expected YYYY-MM-DD\n"
