"""What axe-core finds on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from axe_playwright_python.sync_playwright import Axe

if TYPE_CHECKING:
    from playwright.sync_api import Page

SERIOUS = {"serious", "critical"}


def axe_violations(page: Page, impacts: set[str] | None = None) -> list[str]:
    """Violations of these impacts, serious and worse if None: the rule, and the first element that breaks it."""
    return [
        f"{each['id']}: {each['nodes'][0]['html'][:200]}"
        for each in Axe().run(page).response["violations"]
        if each["impact"] in (impacts or SERIOUS)
    ]
