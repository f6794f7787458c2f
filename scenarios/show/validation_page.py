"""The page of a validation: one HTML file that needs no network, beside the certificate in the model's file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from calibration.fit import Calibration, Certificate
from models.input import write_whole
from scenarios.show import validation as text
from scenarios.show.charts import validation as figures
from scenarios.show.numbers import signed_share
from scenarios.show.page import render


def write_page(path: Path, calibration: Calibration, found: Certificate, command: str) -> None:
    """Write the page whole or not at all. Raises InputError if the place can't be written."""
    write_whole(path, page_html(calibration, found, command))


def page_html(calibration: Calibration, found: Certificate, command: str) -> str:
    """The page: headline, runs, pictures, refits against baselines, coverage, range, how to reproduce."""
    pictures = {
        "agreement": figures.against_measured(found),
        "residuals": figures.residuals(found),
        "baselines": figures.baselines(found),
        "gaps": figures.gaps(found.gaps),
    }
    context: dict[str, Any] = {
        "name": calibration.base.name,
        "found": found,
        "left": found.left_out_by("run"),
        "groups": [each for each in found.left_out if each.kind != "run"],
        "kinds": text.NAMES,
        "coverage": text.coverage_words(found) if found.coverage else "coverage: no run was left out",
        "baselines": [(each, text.baseline_words(each)) for each in found.baselines],
        "limited_by": text.limited_by,
        "change": lambda log: signed_share(math.expm1(log)),
        "pictures": pictures,
        "figures": {each.key: each.figure for each in pictures.values() if each is not None},
        "command": command,
        "seed": calibration.seed,
    }
    return render("validation.html.j2", context)
