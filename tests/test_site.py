"""The documentation site, built in a copy: every page is reached, every link and anchor holds, nobody else is asked."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest
import yaml

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[1]
BUILD = "from zensical.main import cli; cli()"
LOADED = {"script": "src", "img": "src", "iframe": "src", "link": "href"}
"""what a browser fetches without being asked"""
NOT_LOADED = {"canonical", "prev", "next"}


def built(folder: Path, *changes: tuple[str, str, str]) -> subprocess.CompletedProcess[str]:
    """A copy of the pages with changes (page, from, to), and the site that is built of it, in out/site."""
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "mkdocs.yml", folder)
    for name, old, new in changes:
        page = folder / "docs" / name
        text = page.read_text(encoding="utf-8")
        assert old in text
        page.write_text(text.replace(old, new, 1), encoding="utf-8")
    words = [sys.executable, "-c", BUILD, "build", "--strict", "--clean"]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = built(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "out" / "site"


class Addresses(HTMLParser):
    """Where a page leads to, what it loads, and the anchors that it has."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.add(found["href"])
        if tag in LOADED and LOADED[tag] in found and found.get("rel", "") not in NOT_LOADED:
            self.loaded.add(found[LOADED[tag]])


def dead_links(site: Path) -> list[str]:
    """Links, pictures, scripts and anchors of the pages that lead nowhere."""
    pages = {page: Addresses(page) for page in site.rglob("*.html") if page.name != "404.html"}
    dead = []
    for page, addresses in pages.items():
        for address in addresses.links | addresses.loaded:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            anchors = pages[target].anchors | {""} if target in pages else {""}
            if not target.is_file() or unquote(parts.fragment) not in anchors:
                dead.append(f"{page.relative_to(site)}: {address}")
    return dead


def in_navigation(node: object) -> set[str]:
    """Pages of a navigation."""
    if isinstance(node, str):
        return {node}
    below = node.values() if isinstance(node, dict) else node
    assert isinstance(below, list) or hasattr(below, "__iter__")
    return set().union(*(in_navigation(each) for each in below))


def test_every_page_is_in_the_navigation() -> None:
    named = in_navigation(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    decisions = {
        page for page in pages if re.fullmatch(r"decisions/\d+-.*\.md", page)
    }  # the list of decisions has them
    assert named == pages - decisions


def test_every_link_picture_and_anchor_leads_somewhere(site: Path) -> None:
    assert len(list(site.rglob("*.html"))) > 70
    assert dead_links(site) == []


def test_a_dead_link_and_a_dead_anchor_are_noticed(site: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    text = '<a href="none.html">x</a> <a href="#none">y</a> <img src="none.svg"> <a href="page.html#p">z</a><p id="p">'
    page.write_text(text, encoding="utf-8")
    assert sorted(dead_links(tmp_path)) == ["page.html: #none", "page.html: none.html", "page.html: none.svg"]
    assert (site / "index.html").exists()


@pytest.mark.parametrize("link", ["how-to/gone.md", "model.md#gone"])
def test_a_build_with_a_broken_link_fails(link: str, tmp_path: Path) -> None:
    done = built(tmp_path, ("index.md", "(tutorial.md)", f"({link})"))
    assert done.returncode != 0
    assert "does not exist" in done.stdout + done.stderr


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    loaded = {address for page in site.rglob("*.html") for address in Addresses(page).loaded}
    assert len(loaded) > 5
    assert [address for address in loaded if urlsplit(address).netloc] == []


def test_no_script_of_the_builders_is_in_the_site(site: Path) -> None:
    assert list(site.rglob("*.py")) == []


def test_the_site_opens_from_disk_and_its_search_finds(browser_page: Page, site: Path) -> None:
    asked: list[str] = []
    browser_page.on("request", lambda request: asked.append(request.url))
    browser_page.goto((site / "index.html").as_uri())
    assert browser_page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    browser_page.keyboard.press("/")
    browser_page.keyboard.type("group commit")
    browser_page.get_by_text(re.compile(r"^\d+ results$")).first.wait_for()
    hits = browser_page.locator("a").filter(has_text="Keys of a scenario").filter(has_text="waits for a group flush")
    hits.first.click()
    browser_page.wait_for_url("**/reference/scenario.html*")
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


@pytest.mark.parametrize(
    "name", ["tutorial", "validation", "model/cloud-volumes", "reference/scenario", "beside-calculators", "how-to/plan"]
)
def test_pages_are_no_wider_than_the_window(name: str, browser_page: Page, site: Path) -> None:
    browser_page.goto((site / f"{name}.html").as_uri())
    assert browser_page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
