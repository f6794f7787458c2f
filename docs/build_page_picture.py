"""Draw docs/pictures/page.png, the live page with two machines as a person sees it, in Chromium.

docs/how-to/serve.md notes which answers it shows, so that a stale picture is known without a browser.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode

import oltpsim
from docs.build import START, replaced
from oltpsim.scenarios.show.chromium import chromium_path

DOCS = Path(__file__).resolve().parent
PAGE, PICTURE = DOCS / "how-to" / "serve.md", DOCS / "pictures" / "page.png"
BEGIN, END = "<!-- made by docs/build_page_picture.py of the answers ", " -->\n"
MACHINES = {"a": "8 cores, 32 GB, SSD, PostgreSQL 16", "b": "8 cores, 32 GB, 2 NVMe, PostgreSQL 16"}
SIZE = {"width": 1280, "height": 1250}
WAIT_MS = 600_000


def digest() -> str:
    """Hash of what is calculated for both machines."""
    found = [oltpsim.run(oltpsim.describe(machine), engine="analytic") for machine in MACHINES.values()]
    words = [[f"{each.value:.4g}", *each.warnings] for each in found]
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()[:16]


def draw(address: str) -> None:
    """Photograph the page when both machines have their rates, intervals and curves."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path("picture"), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.set_default_timeout(WAIT_MS)
        page.goto(f"{address}?{urlencode(MACHINES)}")
        for side in MACHINES:
            page.wait_for_selector(f"#curves-{side}:not(.stale) .plot[data-drawn]")
        page.wait_for_timeout(500)
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", START, "serve", "--port", "0", "--folder", folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603 - our own command
            assert server.stdout is not None
            draw(server.stdout.readline().split()[0])
            server.terminate()
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(replaced(text, BEGIN, END, digest()), encoding="utf-8")
