"""What a calibration says of other machines, and which run would tell most."""

from calibration.predict.candidates import CLIENTS, Candidate, Choice, around, named, read_candidates, usual_run
from calibration.predict.guessed import Foreseen, foresee
from calibration.predict.next_run import Advice, Worth, advise
from calibration.predict.prediction import Predicted, predict

__all__ = [
    "CLIENTS",
    "Advice",
    "Candidate",
    "Choice",
    "Foreseen",
    "Predicted",
    "Worth",
    "advise",
    "around",
    "foresee",
    "named",
    "predict",
    "read_candidates",
    "usual_run",
]
