"""Path lengths of described lines, fitted to public runs."""

from __future__ import annotations

import math
from dataclasses import replace

from docs.build_path_lengths import SIMPLE, constants, rows
from oltpsim.calibration.fit import PATH_NUMBERS, fitted_paths


def test_a_part_of_the_rows_gives_the_constant_again() -> None:
    """PostgreSQL's statement is in pgbench's rows alone; twin: half the rates give another."""
    measured = [row for row in rows() if row.number == SIMPLE]
    value, factor = fitted_paths(measured, [SIMPLE])[SIMPLE]
    slower, _ = fitted_paths([replace(row, per_s=row.per_s / 2) for row in measured], [SIMPLE])[SIMPLE]
    written = constants()[SIMPLE]
    assert abs(math.log(value / written)) < 2 * math.log(factor)
    assert abs(math.log(slower / written)) > 3 * math.log(factor)


def test_every_number_has_rows_of_its_own() -> None:
    measured = list(rows())
    assert len(measured) == 70
    assert {row.number for row in measured} <= set(PATH_NUMBERS) == constants().keys()
