"""Predictions: other machines by a calibration, and the run that would make them better."""

from calibration.predict.beyond import unseen_parts
from calibration.predict.candidates import (
    CLIENTS_KEY,
    CandidateSet,
    RunCandidate,
    candidates_around,
    candidates_named,
    read_candidates,
    usual_run,
)
from calibration.predict.evidence import Evidence, half_width
from calibration.predict.figures import FigureInterval, Moves
from calibration.predict.guessed import DescribedPrediction, guess_moves, guesses_of, left_open, predict_described
from calibration.predict.measurement import (
    CHANCE,
    FORMULAS,
    Contribution,
    MeasurementInterval,
    ModelUsed,
    Uncertainty,
    measurement_interval,
    ratio_interval,
    run_measurement,
    uncertainty_of,
)
from calibration.predict.next_run import Advice, RunWorth, advice_digest, advise_next_run
from calibration.predict.prediction import Predicted, predict_scenario, predict_scenarios
from calibration.predict.slowed import faster, slower
from calibration.predict.spreads import part_factor, part_factors, unseen_moves
