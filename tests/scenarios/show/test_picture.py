"""Pictures in files of their own: pages always, SVG where there is a Chromium."""

from __future__ import annotations

import re
import struct
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oltpsim.scenarios.show import chromium
from oltpsim.scenarios.show.chart import Chart, Curve, Scale, Zone
from oltpsim.scenarios.show.chromium import POINTS_PER_PX
from oltpsim.scenarios.show.palette import BLUE, GREY
from oltpsim.scenarios.show.picture import check_picture, picture_digest, picture_page, picture_svg, write_picture
from oltpsim.simulator.errors import InputError

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHART = Chart(
    key="one",
    title="Rates & <tags>",
    alternative="1 to 2",
    marks=[Zone(x=(0, 1), colour=GREY, label="warm-up"), Curve(x=[0, 2], y=[1, 2], colour=BLUE, label="rate")],
    x=Scale(low=0.0, high=2.0),
    y=Scale(low=0.0, high=2.0),
    height_px=200,
    caption="made up",
)


@pytest.mark.parametrize("name", ["x.gif", "x"])
def test_another_ending_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"--picture x.*: the name must end in \.svg, \.png, \.pdf or \.html"):
        check_picture(Path(name), "--picture")


@pytest.mark.parametrize("kind", ["SVG", "PNG", "PDF"])
def test_without_chromium_a_drawing_is_refused_in_a_sentence(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chromium, "BROWSERS", ("no-such-browser",))
    check_picture(Path("x.html"), "--picture")
    check_picture(None, "--picture")
    with pytest.raises(InputError, match=rf"--picture x.*: {kind} is drawn by Chromium, which is not installed"):
        check_picture(Path(f"x.{kind.lower()}"), "--picture")


def test_a_page_holds_all_charts(tmp_path: Path) -> None:
    page = picture_page("Title <1>", [CHART], "about it")
    assert page.count("data-figure=") == 1
    assert "Title &lt;1&gt;" in page
    assert "about it" in page
    write_picture(tmp_path / "deep" / "x.html", "Title <1>", [CHART], "about it")
    assert (tmp_path / "deep" / "x.html").read_text(encoding="utf-8") == page


def test_digest_is_that_of_everything_shown() -> None:
    digest = picture_digest("Title", [CHART])
    assert digest == picture_digest("Title", [CHART])
    assert len({digest, picture_digest("title", [CHART]), picture_digest("Title", [CHART, CHART])}) == 3


def test_svg_is_the_same_every_time_and_names_its_digest(browser: Browser, tmp_path: Path) -> None:
    assert browser.is_connected()  # else there is none to draw with
    svg = picture_svg("Title <1>", [CHART, CHART], "about it")
    assert svg == picture_svg("Title <1>", [CHART, CHART], "about it")
    assert svg.startswith("<svg ")
    assert f"<desc>charts {picture_digest('Title <1>', [CHART, CHART], 'about it')}</desc>" in svg
    for words in ("Title <1>", "about it", "Rates & <tags>", "warm-up", "made up"):
        assert words in unescape(svg)
    names = re.findall(r'id="([^"]+)"', svg)
    assert len(names) == len(set(names)) > 4
    assert 'href="http' not in svg


def test_png_and_pdf_have_the_size_of_the_drawing(browser: Browser, tmp_path: Path) -> None:
    assert browser.is_connected()
    for ending in ("png", "pdf"):
        write_picture(tmp_path / f"x.{ending}", "Title <1>", [CHART])
    size = re.search(r'width="([\d.]+)" height="([\d.]+)"', picture_svg("Title <1>", [CHART]))
    assert size is not None
    width, height = float(size[1]), float(size[2])
    png = (tmp_path / "x.png").read_bytes()
    assert png.startswith(b"\x89PNG")
    assert struct.unpack(">II", png[16:24]) == (POINTS_PER_PX * round(width), POINTS_PER_PX * round(height))
    pdf = (tmp_path / "x.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert box is not None
    assert [float(side) for side in box.groups()] == pytest.approx([width * 0.75, height * 0.75], abs=1.0)
    assert len(re.findall(rb"/Type /Page\b", pdf)) == 1
