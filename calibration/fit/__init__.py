"""The fit: parameters, what runs show of them, the search, and what the fit is worth."""

from calibration.fit.calibration import (
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
from calibration.fit.certificate import (
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
from calibration.fit.checkpoint import FitState
from calibration.fit.discrepancy import ASSUMED_FREEDOM, assumed_sd
from calibration.fit.evaluate import (
    ENGINE_FIGURES,
    AnalyticInput,
    AnalyticReader,
    SimulateModel,
    engine_correction,
    engine_doubts,
    engine_errors,
    kernel_can_simulate,
    solve_inputs,
    steady_rates,
)
from calibration.fit.fitting import FitTask, ReportProgress, no_report, run_fit
from calibration.fit.identifiability import identify_parameters
from calibration.fit.mapping import (
    MappingFile,
    MeasuredRun,
    RunMapping,
    SettingValue,
    figure_choice,
    measured_runs,
    read_mapping_file,
)
from calibration.fit.objective import DIFFERENCE_STEP, MOST_SIGMAS, parameter_bounds, parameters_at_bound
from calibration.fit.observables import (
    RUN_TO_RUN,
    FigureChoice,
    FigureKind,
    engine_logs,
    measured_devices,
    measured_rates,
    simulated_figures,
)
from calibration.fit.parameters import (
    SIGMAS_OF_90_PERCENT,
    Parameter,
    default_parameters,
    parameters_to_fit,
    parse_limits,
    parse_vary,
)
from calibration.fit.profile import INTERVAL_CONFIDENCE
