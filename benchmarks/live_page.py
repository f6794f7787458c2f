"""Benchmark 14: the live page in Chromium, from a slider to the redrawn answer: one browser, and five at once."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import threading
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

from benchmarks.checkout import Options
from benchmarks.page import Section, at_most, figure, table

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = "/usr/bin/chromium"
MACHINES = ("v20z", "postgresql-15", "8 cores, 32 GB, SSD, PostgreSQL 16")
MOVES, BROWSERS, SHARED_MOVES, PAUSE_MS = 30, 5, 12, 400
MOST_MEDIAN_S, MOST_SHARED_S = 0.25, 1.0
SERVE = "import sys; from oltpsim.scenarios.commands.cli import main; sys.exit(main(sys.argv[1:]))"
TIMED = """() => new Promise((done) => {
    const slider = document.querySelector('#sliders-a input[type=range]');
    const before = document.querySelector('#interval-a').textContent;
    const began = performance.now();
    let rate = 0;
    const look = new MutationObserver(() => {
        const text = document.querySelector('#interval-a').textContent;
        if (!rate && text !== before) rate = performance.now() - began;
        if (rate && text.startsWith('[')) {
            look.disconnect();
            done([rate / 1000, (performance.now() - began) / 1000]);
        }
    });
    look.observe(document.querySelector('#answer-a'), {subtree: true, childList: true, characterData: true});
    const down = Number(slider.value) >= Number(slider.max) - 1 || (window.turn = !window.turn);
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
    set.call(slider, Number(slider.value) + (down ? -1 : 1));
    slider.dispatchEvent(new Event('input', {bubbles: true}));
})"""
"""moves the slider of RAM by a place; gives the time until the new rate is drawn, and until its interval is, s"""


def redraws(page: Page, address: str, moves: int, ready: threading.Barrier) -> list[tuple[float, float]]:
    """Times of so many moves after three that don't count, once every browser is ready."""
    page.goto(address)
    page.wait_for_selector("#curves-a:not(.stale) .plot[data-drawn]", timeout=120_000)
    ready.wait()
    found = []
    for _ in range(moves + 3):
        rate_s, interval_s = page.evaluate(TIMED)
        found.append((rate_s, interval_s))
        page.wait_for_timeout(PAUSE_MS)
    return found[3:]


def in_browser(address: str, moves: int, found: list[tuple[float, float]], ready: threading.Barrier) -> None:
    """The moves in a browser of their own."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        found += redraws(browser.new_page(), address, moves, ready)
        ready.wait()  # a browser that ends takes time of those that still move
        browser.close()


def at_95(values: list[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(values, n=20)[-1]


def section(options: Options) -> Section:  # noqa: ARG001 - as all sections
    """One browser over three machines, then five browsers that move at once."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", SERVE, "serve", "--port", "0", "--folder", folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            url = server.stdout.readline().split()[0]
            alone: dict[str, list[tuple[float, float]]] = {}
            for machine in MACHINES:
                in_browser(f"{url}?a={machine}", MOVES, alone.setdefault(machine, []), threading.Barrier(1))
            shared: list[tuple[float, float]] = []
            ready = threading.Barrier(BROWSERS)
            threads = [
                threading.Thread(target=in_browser, args=(f"{url}?a={MACHINES[n % 3]}", SHARED_MOVES, shared, ready))
                for n in range(BROWSERS)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            server.terminate()
    every = [each for times in alone.values() for each in times]
    rows = [
        [name, *(figure(statistics.median(each), "s") for each in zip(*times, strict=True)),
         *(figure(at_95([*each]), "s") for each in zip(*times, strict=True))]
        for name, times in [*alone.items(), ("five browsers at once", shared)]
    ]  # fmt: skip
    head = ["", "rate, median", "interval, median", "rate, 95 %", "interval, 95 %"]
    words = (
        f"`oltpsim serve` and Chromium on this machine: {MOVES} moves of the slider of RAM, from the move until the "
        f"new rate is drawn, and until its interval is (wall). Then {BROWSERS} browsers at once, {SHARED_MOVES} moves "
        "each, while their curves are drawn."
    )
    return Section(
        "The live page",
        [words, table(head, rows)],
        [
            at_most("slider to redraw, median", MOST_MEDIAN_S, statistics.median(rate for rate, _ in every), "s"),
            at_most("five browsers at once, 95th percentile", MOST_SHARED_S, at_95([rate for rate, _ in shared]), "s"),
        ],
    )
