"""For every test: what Hypothesis may do, who compiles, and a browser whose pages may not reach the network."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from coverage import Coverage
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

# As the program does before NumPy is loaded (scenarios/commands/cli.py): sums end by their last bits otherwise, and the
# search for a rate that has two roots finds the other one.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
assert "numpy" not in sys.modules

# A busy machine is no defect, and two runs of the tests are the same run. `--hypothesis-profile=search` draws others.
settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", settings.get_profile("search"), derandomize=True)
settings.load_profile("same")
# Hypothesis would also draw constants of the modules that are loaded, which differ with what was tested before.
providers._get_local_constants = lambda: providers._local_constants  # type: ignore[attr-defined]

# A shell that runs the tests in the background has them ignore Ctrl-C, and what they start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = Path("/usr/bin/chromium")
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
VIEWPORTS = {"desktop": (1280, 900), "phone": (390, 844)}
LOCAL_SCHEMES = {"about", "blob", "data", "file"}
LOCAL_HOSTS = {"localhost", "127.0.0.1", "::1"}


def pytest_configure(config: pytest.Config) -> None:
    """Bring the compiled libraries up to date, before any worker loads them."""
    if not hasattr(config, "workerinput") and "OLTPSIM_KERNEL_LIBRARY" not in os.environ:
        subprocess.run([sys.executable, ROOT / ".ci" / "libraries.py"], check=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Count no branches during a test that is marked so, nor in the programs that it starts."""
    counting = Coverage.current() if item.get_closest_marker("uncounted") else None
    if counting is None:
        return (yield)
    counting.stop()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
            return (yield)
    finally:
        counting.start()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, started once per worker; a missing one skips the test, but in CI it fails."""
    if not CHROMIUM.exists():
        reason = f"no browser at {CHROMIUM}: `apt-get install chromium`, or `make test` as root"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(params=VIEWPORTS)
def browser_page(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    """An empty page, once as wide as a desktop and once as a phone.

    The test fails at its end if the page asked for anything that is not on this machine, or if a script
    of the page raised an error.
    """
    width, height = VIEWPORTS[request.param]
    complaints: list[str] = []

    def only_local(route: Route) -> None:
        address = urlsplit(route.request.url)
        if address.scheme in LOCAL_SCHEMES or address.hostname in LOCAL_HOSTS:
            route.continue_()
        else:
            complaints.append(f"the page asked for {route.request.url}")
            route.abort()

    context = browser.new_context(viewport={"width": width, "height": height})
    context.route("**/*", only_local)
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(f"a script of the page raised {error}"))
    yield page
    context.close()
    if complaints:
        pytest.fail("; ".join(complaints))
