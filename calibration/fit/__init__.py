"""The fit: parameters, what runs show of them, the search, and what the fit is worth."""

from oltpsim.calibration.fit.answers import answers_version, rate_changes
from oltpsim.calibration.fit.calibration import (
    CALIBRATION_FORMAT,
    Calibration,
    FittedParameter,
    FittedRun,
    apply_calibration,
    calibration_hash,
    calibration_json,
    calibration_of,
    calibration_path,
    read_calibration,
    run_conditions,
    scenario_hash,
    shipped_calibrations,
    unapplied_keys,
    write_calibration,
)
from oltpsim.calibration.fit.certificate import (
    ANSWERS,
    NEW_ORDERS,
    Baseline,
    BaselineRow,
    Certificate,
    Coverage,
    Errors,
    Gap,
    GapPart,
    JudgedRate,
    JudgedRun,
    LeaveOut,
    RegimeErrors,
    error_summary,
    judged_rate,
    plural,
)
from oltpsim.calibration.fit.covariance import (
    Circumstances,
    circumstances_of,
    covariance_of,
    figure_correlations,
    setup_hash,
    shared_correlation,
    shared_correlations,
)
from oltpsim.calibration.fit.discrepancy import (
    ASSUMED_FREEDOM,
    assumed_discrepancy,
    assumed_sd,
    estimated_discrepancy,
    student_rises,
    with_discrepancy,
)
from oltpsim.calibration.fit.disk_entry import FittedEntry, disk_capacity_gib, fitted_entry
from oltpsim.calibration.fit.disk_kinds import TableFit, disk_table, fit_table
from oltpsim.calibration.fit.evaluate import (
    ENGINE_FIGURES,
    AnalyticInput,
    AnalyticReader,
    Evaluator,
    SimulateModel,
    engine_correction,
    engine_doubts,
    engine_errors,
    kernel_can_simulate,
    rate_sds,
    run_regime,
    solve_inputs,
    steady_rates,
)
from oltpsim.calibration.fit.fitting import FitTask, ReportProgress, no_report, run_fit
from oltpsim.calibration.fit.identifiability import identify_parameters
from oltpsim.calibration.fit.mapping import (
    MappingFile,
    MeasuredRun,
    RunMapping,
    SettingValue,
    figure_choice,
    measured_runs,
    read_mapping_file,
)
from oltpsim.calibration.fit.objective import (
    DIFFERENCE_STEP,
    MOST_SIGMAS,
    FitData,
    FitObjective,
    parameter_bounds,
    parameters_at_bound,
)
from oltpsim.calibration.fit.observables import (
    RUN_TO_RUN,
    FigureChoice,
    FigureKind,
    engine_logs,
    measured_devices,
    measured_rates,
    simulated_figures,
    simulated_noise,
)
from oltpsim.calibration.fit.parameters import (
    SIGMAS_OF_90_PERCENT,
    Parameter,
    default_parameters,
    parameters_to_fit,
    parse_limits,
    parse_vary,
)
from oltpsim.calibration.fit.path_lengths import PATH_NUMBERS, PathRow, fitted_paths
from oltpsim.calibration.fit.profile import INTERVAL_CONFIDENCE
from oltpsim.calibration.fit.profile import profile as profile_intervals
from oltpsim.calibration.fit.search import Optimum
from oltpsim.calibration.fit.step_journal import StepJournal
