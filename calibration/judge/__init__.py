"""Judgement of a calibration by runs: left-out runs, baselines, gaps, certificates."""

from oltpsim.calibration.judge.blind import BlindTest, blind_calibration
from oltpsim.calibration.judge.large_systems import (
    FigureRow,
    figure_rows,
    figure_rows_json,
    figure_values,
    large_system_key,
    measured_scenarios,
    read_large_systems,
    write_large_systems,
)
from oltpsim.calibration.judge.left_out import Refits, machine_of, measured_rate, rates_without_machine, refits_digest
from oltpsim.calibration.judge.public import JudgedFile, all_errors, judge_public_file, public_files
from oltpsim.calibration.judge.validation import exact_share, runs_to_judge, validate_calibration
