"""Draw docs/pictures/what-if.png, the sliders of a report as a person sees them, in Chromium.

docs/beside-calculators.md notes which panel it shows, so that a stale picture is known without a browser.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path

from docs.build import replaced
from oltpsim.scenarios.commands.cli import main
from oltpsim.scenarios.library import load_scenario_file, scenario_path
from oltpsim.scenarios.questions.what_if import what_if
from oltpsim.scenarios.show.chromium import chromium_path
from oltpsim.scenarios.show.what_if import what_if_panel

DOCS = Path(__file__).resolve().parent
PAGE, PICTURE = DOCS / "beside-calculators.md", DOCS / "pictures" / "what-if.png"
BEGIN, END = "<!-- made by docs/build_what_if_picture.py of the panel ", " -->\n"
SCENARIO, MOVED = "v20z", "Buffer pool"
SIZE = {"width": 1080, "height": 900}


def digest() -> str:
    """Hash of all that the sliders can say."""
    scenario = load_scenario_file(scenario_path(SCENARIO), ())
    cells = what_if_panel(what_if(scenario, lambda _, __: None), scenario).cells
    return hashlib.sha256(json.dumps(cells, sort_keys=True).encode()).hexdigest()[:16]


def draw(report: Path) -> None:
    """Photograph the sliders with one of them moved a step to the right."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path("picture"), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, device_scale_factor=1.5, color_scheme="light")
        page.goto(report.as_uri())
        page.wait_for_selector("html[data-drawn]")
        page.get_by_label(MOVED, exact=True).press("ArrowRight")
        page.wait_for_timeout(500)
        page.locator("#what-if-panel").screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "report.html"
        main(["run", SCENARIO, "--engine", "analytic", "--report", str(made), "--quiet"])
        draw(made)
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(replaced(text, BEGIN, END, digest()), encoding="utf-8")
