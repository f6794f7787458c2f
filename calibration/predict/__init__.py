"""Predictions: other machines by a calibration, and the run that would make them better."""

from calibration.predict.candidates import (
    CLIENTS_KEY,
    CandidateSet,
    RunCandidate,
    candidates_around,
    candidates_named,
    read_candidates,
    usual_run,
)
from calibration.predict.guessed import DescribedPrediction, predict_described
from calibration.predict.next_run import Advice, RunWorth, advice_digest, advise_next_run
from calibration.predict.prediction import Predicted, predict_scenario, predict_scenarios
