"""Draw docs/pictures/page.png, the live page with two machines as a person sees it, in Chromium.

docs/how-to/serve.md notes which answers it shows, so that a stale picture is known without a browser.
"""

from __future__ import annotations

import hashlib
import json
import logging
import tempfile
import threading
from pathlib import Path
from urllib.parse import urlencode

from werkzeug.serving import make_server

from docs.build import replaced
from scenarios.page.answers import calculated_answer
from scenarios.page.question import PageQuestion
from scenarios.page.server import PageServer
from scenarios.show.chromium import chromium_path

DOCS = Path(__file__).resolve().parent
PAGE, PICTURE = DOCS / "how-to" / "serve.md", DOCS / "pictures" / "page.png"
BEGIN, END = "<!-- made by docs/build_page_picture.py of the answers ", " -->\n"
MACHINES = {"a": "8 cores, 32 GB, SSD, PostgreSQL 16", "b": "8 cores, 32 GB, 2 NVMe, PostgreSQL 16"}
SIZE = {"width": 1280, "height": 1250}
WAIT_MS = 600_000


def digest() -> str:
    """Hash of what the page says of both machines."""
    found = [calculated_answer(PageQuestion(machine)) for machine in MACHINES.values()]
    words = [[f"{each.rate_per_min:.4g}", each.bottleneck, each.p95, *each.warnings] for each in found]
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
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        served = PageServer(Path(folder))
        served.calculator.begin()
        server = make_server("127.0.0.1", 0, served.app.server, threaded=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        draw(f"http://127.0.0.1:{server.server_port}/")
        server.shutdown()
        served.close()
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(replaced(text, BEGIN, END, digest()), encoding="utf-8")
