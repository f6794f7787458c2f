"""How well a calibration meets runs: left-out runs, baselines, gaps, certificates."""

from calibration.judge.gap import CPU_PART, DEVICE_PART, MISSES_PART, READS_PART, WRITES_PART
from calibration.judge.large_systems import FigureRow, as_json
from calibration.judge.left_out import digest, processes
from calibration.judge.validation import exact_share, runs_to_judge, validate

__all__ = [
    "CPU_PART",
    "DEVICE_PART",
    "MISSES_PART",
    "READS_PART",
    "WRITES_PART",
    "FigureRow",
    "as_json",
    "digest",
    "exact_share",
    "processes",
    "runs_to_judge",
    "validate",
]
