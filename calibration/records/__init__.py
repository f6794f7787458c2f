"""Run records: what was measured, checked and kept."""

from calibration.records.checks import Finding, check, missing
from calibration.records.figures import value_of
from calibration.records.files import load_record, record_path, records_in, save_records, shipped
from calibration.records.merging import merge
from calibration.records.origin import code_digest, fit_versions
from calibration.records.reading import (
    RANK_OF_DETAIL,
    RANK_OF_WITNESS,
    DiskPoint,
    Importer,
    Leaf,
    Meaning,
    Path,
    Rate,
    Reading,
    Sample,
    Samples,
    Snapshot,
)
from calibration.records.record import Device, Observed, RunRecord, Series, Told

__all__ = [
    "RANK_OF_DETAIL",
    "RANK_OF_WITNESS",
    "Device",
    "DiskPoint",
    "Finding",
    "Importer",
    "Leaf",
    "Meaning",
    "Observed",
    "Path",
    "Rate",
    "Reading",
    "RunRecord",
    "Sample",
    "Samples",
    "Series",
    "Snapshot",
    "Told",
    "check",
    "code_digest",
    "fit_versions",
    "load_record",
    "merge",
    "missing",
    "record_path",
    "records_in",
    "save_records",
    "shipped",
    "value_of",
]
