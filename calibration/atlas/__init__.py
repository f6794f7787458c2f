"""The atlas: public runs of described machines, and what they say of another machine's rate."""

from oltpsim.calibration.atlas.atlas import Adjustment, shipped_atlas
from oltpsim.calibration.atlas.kernel import AtlasKernel, fitted_kernel, left_out
from oltpsim.calibration.atlas.runs import AtlasRun, assumed_facts, place_of, read_atlas_runs, write_atlas_runs

__all__ = [
    "Adjustment",
    "AtlasKernel",
    "AtlasRun",
    "assumed_facts",
    "fitted_kernel",
    "left_out",
    "place_of",
    "read_atlas_runs",
    "shipped_atlas",
    "write_atlas_runs",
]
