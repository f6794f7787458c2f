"""Predictions: other machines by a calibration, and the run that would make them better."""

from oltpsim.calibration.predict.beyond import unseen_parts
from oltpsim.calibration.predict.candidates import (
    CLIENTS_KEY,
    CandidateSet,
    RunCandidate,
    candidates_around,
    candidates_named,
    read_candidates,
    usual_run,
)
from oltpsim.calibration.predict.evidence import Evidence
from oltpsim.calibration.predict.figures import FigureInterval, Moves
from oltpsim.calibration.predict.guessed import Guesses, guess_moves, guesses_of
from oltpsim.calibration.predict.measurement import MeasurementInterval, measurement_interval
from oltpsim.calibration.predict.next_run import Advice, RunWorth, advice_digest, advise_next_run
from oltpsim.calibration.predict.prediction import ModelUsed, Predicted, predict_scenario, predict_scenarios
from oltpsim.calibration.predict.slowed import faster, slower
from oltpsim.calibration.predict.spreads import part_factor, part_factors, unseen_moves
from oltpsim.calibration.predict.uncertain_value import (
    ALIKE,
    CALIBRATED,
    CHANCE,
    FORMULAS,
    MISSED,
    ONE_RUN,
    Component,
    UncertainValue,
)
