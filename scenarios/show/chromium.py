"""What a Chromium without a window makes of a page: the page after its scripts, paper, or points of colour."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from oltpsim.simulator.errors import InputError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
PATIENCE_S = 120
POINTS_PER_PX = 2
"""of a PNG: sharp on paper and on dense screens"""


def chromium_path(where: str) -> str:
    """The first Chromium on the path. Raises InputError, which begins with `where`, if there is none."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        kind = Path(where).suffix.removeprefix(".").upper() or "it"
        raise InputError(
            f"{where}: {kind} is drawn by Chromium, which is not installed: install it, or name a .html file"
        )
    return found


def page_after_scripts(page: str) -> str:
    """The page's document once its scripts have run. Raises InputError."""
    return _answer(page, "--dump-dom", None).decode(errors="replace")


def printed(page: str) -> bytes:
    """The page on paper, as PDF. Raises InputError."""
    return _answer(page, "--print-to-pdf={}", "page.pdf", "--no-pdf-header-footer")


def photographed(page: str, width_px: float, height_px: float) -> bytes:
    """The page as PNG, twice as many points as CSS pixels each way. Raises InputError."""
    size = (f"--window-size={round(width_px)},{round(height_px)}", f"--force-device-scale-factor={POINTS_PER_PX}")
    return _answer(page, "--screenshot={}", "page.png", "--hide-scrollbars", *size)


def _answer(page: str, wanted: str, name: str | None, *options: str) -> bytes:
    """Stdout of Chromium, or the file of that name that it is wanted to write."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "page.html"
        place.write_text(page, encoding="utf-8")
        written = Path(folder) / (name or "")
        last = (f"--user-data-dir={folder}/profile", "--virtual-time-budget=60000", wanted.format(written))
        try:
            done = subprocess.run(  # noqa: S603 - the page is our own
                [chromium_path("picture"), *OPTIONS, *options, *last, place.as_uri()],
                capture_output=True,
                timeout=PATIENCE_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InputError(f"picture: Chromium can't draw it: {error}; name a .html file") from error
        answer = done.stdout if name is None else written.read_bytes() if written.exists() else b""
    if not answer:
        line = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise InputError(f"picture: Chromium can't draw it ({line}); name a .html file")
    return answer
