"""What the loss of a server costs: rates before, during and after, how long it takes, and whether the books balance."""

from dataclasses import dataclass

import numpy as np

from oltpsim.models.jobs.store_program import DEAD
from oltpsim.models.jobs.store_run import StoreState
from oltpsim.models.wiring import RECOVERED
from oltpsim.models.workloads import NodeLossSpec
from oltpsim.simulator.form import NS_PER_S
from oltpsim.simulator.results import Series


@dataclass(frozen=True)
class Books:
    """Counts of a whole run. Balanced: each request is answered once, each update is once in every copy that lives.

    `unaccounted`: sent - answered - sent again - in flight. The others: updates in a copy, less those answered and
    those of threads that still wait though this copy has them. More than 0: carried out twice; less: lost.
    """

    sent: int
    answered: int
    sent_again: int
    in_flight: int
    known_again: int
    unaccounted: int
    first_copies: int
    second_copies: int
    surviving_copies: int
    """of the dead server's share: the second copies, which became the first"""

    @property
    def wrong_updates(self) -> int:
        """Updates that were lost or carried out twice."""
        return abs(self.first_copies) + abs(self.second_copies) + abs(self.surviving_copies)


def books_of(state: StoreState) -> Books:
    """Books at the end of a run of a store that loses a server. Raises InternalError for a store without a loss."""
    threads = len(state.counter("seen by first copy"))
    number, share, is_open = (state.register(name)[:threads] for name in ("number", "share", "open"))
    dead = share == DEAD
    waiting = {
        which: (is_open == 1) & (state.counter(f"seen by {which}") == number) for which in ("first copy", "second copy")
    }
    updates, first, second, left_out = (
        state.counter(name) for name in ("updates answered", "first copy", "second copy", "second copy left out")
    )
    survivors = np.arange(len(updates)) != DEAD
    sent, resent, known, taken_over = (
        int(state.counter(name)[0]) for name in ("sent", "sent again", "known again", "taken over")
    )
    answered, in_flight = int(state.counter("answered").sum()), int(is_open.sum())
    return Books(
        sent=sent,
        answered=answered,
        sent_again=resent,
        in_flight=in_flight,
        known_again=known,
        unaccounted=sent - answered - resent - in_flight,
        first_copies=int((first - updates)[survivors].sum() - (waiting["first copy"] & ~dead).sum()),
        second_copies=int((second + left_out - updates)[survivors].sum() - (waiting["second copy"] & ~dead).sum()),
        surviving_copies=int(
            second[DEAD] + left_out[DEAD] + taken_over - updates[DEAD] - (waiting["second copy"] & dead).sum()
        ),
    )


def loss_figures(loss: NodeLossSpec, state: StoreState, series: Series) -> dict[str, float]:
    """Rates and times of a loss by name; what had not come about at the end of the run is left out."""
    rates, noticed_s = np.array(series.values["transactions_per_s"]), loss.at_s + loss.detection_s
    ends_s = series.step_s * (1.0 + np.arange(len(rates)))
    restored_s = float(state.counter("restored")[DEAD]) / NS_PER_S
    end_s = float(ends_s[-1])

    def rate(from_s: float, to_s: float) -> float:
        inside = (ends_s - series.step_s >= from_s - 1e-9) & (ends_s <= to_s + 1e-9)
        return float(rates[inside].mean()) if inside.any() else 0.0

    before = rate(loss.at_s / 2, loss.at_s)
    recovered = ends_s[(ends_s - series.step_s >= loss.at_s) & (ends_s > noticed_s) & (rates >= RECOVERED * before)]
    figures = {
        "requests/s before the loss": before,
        "requests/s until it is noticed": rate(loss.at_s, noticed_s),
        "requests/s while copying": rate(noticed_s + series.step_s, min(restored_s, end_s)),
    }
    if restored_s < end_s:
        figures["requests/s with all copies"] = rate(restored_s, end_s)
    figures["seconds until it is noticed"] = loss.detection_s
    if recovered.size:
        figures[f"seconds until {RECOVERED:.0%} of the rate".replace("%", " %")] = float(recovered[0]) - loss.at_s
    if restored_s < end_s:
        figures["seconds until all rows have two copies"] = restored_s - loss.at_s
    books = books_of(state)
    return figures | {
        "requests sent again": books.sent_again,
        "updates known by their number": books.known_again,
        "requests unaccounted for": books.unaccounted,
        "updates too many or lost": books.wrong_updates,
    }
