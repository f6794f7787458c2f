"""Run records: what was measured, checked and kept."""

from oltpsim.calibration.records.checks import Finding, check_record, missing_keys
from oltpsim.calibration.records.files import load_record, record_path, records_in, save_records, shipped_records
from oltpsim.calibration.records.measured import (
    FIGURES_OF_A_RECORD,
    is_of_a_record,
    mean_response_s,
    record_of_scenario,
    simulated_figure,
)
from oltpsim.calibration.records.merging import RATES, merge_readings, record_from_values
from oltpsim.calibration.records.origin import code_digest, fit_program, fit_versions
from oltpsim.calibration.records.reading import (
    CounterRate,
    CounterSnapshot,
    DiskPoint,
    FileReading,
    Importer,
    Leaf,
    Meaning,
    MonitorSample,
    MonitorSamples,
    RecordKey,
    ResultRank,
)
from oltpsim.calibration.records.record import (
    FORMAT,
    MeasuredDevice,
    MeasuredSeries,
    Observed,
    ObservedText,
    RunRecord,
    sum_observed,
)
from oltpsim.calibration.records.server_settings import gib, known_settings, setting_effects
