"""The processes that calculate for all browsers: one for rates, one for intervals, one for curves."""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from oltpsim.calibration.workers import WorkerPool
from oltpsim.scenarios.page.answers import (
    CalculatedAnswer,
    IntervalAnswer,
    SliderPlaces,
    calculated_answer,
    curve_drawings,
    interval_answer,
    slider_places,
)
from oltpsim.scenarios.page.drawing import Drawing
from oltpsim.scenarios.page.model import ModelFile
from oltpsim.scenarios.page.question import PageQuestion
from oltpsim.simulator.errors import InputError

FIRST = "v20z"
"""scenario that is calculated at the start"""
INTERVALS_NICE, CURVES_NICE = 3, 8
"""so that nobody's rate waits for the curves of others"""
MOST_PLACES = 1000
"""of browsers and sides whose latest question is remembered"""
ENDED = "the page has ended; start it again"
LOST = "the process that calculates ended, most likely because memory ran out; make pool, clients or data smaller"


@dataclass(frozen=True)
class PageRequest:
    """A request of one side of one browser's page, with its number among them: they may come in another order."""

    place: str
    number: int


class CalculatingProcess:
    """One process that answers calls one after the other; another one takes its place if it is lost."""

    def __init__(self, nice: int = 0) -> None:
        self._nice, self._is_busy, self._is_closed = nice, False, False
        self._pool = self._begun()
        self._changed = threading.Condition()
        self._latest: OrderedDict[str, int] = OrderedDict()

    def _begun(self) -> WorkerPool:
        return WorkerPool(1, os.nice, (self._nice,))

    def begin(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Let it read the modules and programs that its first answers need, before anybody asks."""
        self._pool.submit(function, *arguments)

    def call(self, request: PageRequest, function: Callable[..., Any], *arguments: Any) -> Any:
        """The function's answer there; None if something newer was asked for the same place. Raises InputError."""
        place, number = request.place, request.number
        with self._changed:
            latest = self._latest.pop(place, number)
            self._latest[place] = max(latest, number)
            if latest > number:
                return None
            if len(self._latest) > MOST_PLACES:
                self._latest.popitem(last=False)
            # Who is overtaken ends at once: a browser has six connections, and none to spare for what it won't show.
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._is_busy or self._latest.get(place, number) != number)
            if self._latest.get(place, number) != number:
                return None
            if self._is_closed:
                raise InputError(ENDED)
            self._is_busy = True
            pool, waiting = self._pool, None
            try:
                waiting = pool.submit(function, *arguments)
            except BrokenExecutor:  # found lost only now
                self._begin_anew()
        try:
            if waiting is None:
                raise InputError(LOST)
            return waiting.result()
        except (BrokenExecutor, CancelledError, MemoryError) as error:
            with self._changed:
                self._begin_anew()
            raise InputError(LOST) from error
        finally:
            with self._changed:
                self._is_busy = False
                self._changed.notify_all()

    def _begin_anew(self) -> None:
        """Another process in the place of one that is lost; with the lock. Raises InputError if all has ended."""
        if self._is_closed:
            raise InputError(ENDED)
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool = self._begun()

    def close(self) -> None:
        """End it, whatever it is at."""
        with self._changed:
            self._is_closed = True
            self._pool.end()


class Calculator:
    """Answers of the analytic engine."""

    def __init__(self) -> None:
        self._rates = CalculatingProcess()
        self._intervals, self._curves = CalculatingProcess(INTERVALS_NICE), CalculatingProcess(CURVES_NICE)

    def begin(self) -> None:
        """Start the processes, which read what their first answers need before anybody asks."""
        self._rates.begin(calculated_answer, PageQuestion(FIRST))
        self._intervals.begin(interval_answer, PageQuestion(FIRST))
        self._curves.begin(curve_drawings, PageQuestion(FIRST))

    def places(self, question: PageQuestion) -> list[SliderPlaces]:
        """See `slider_places`."""
        found: list[SliderPlaces] = self._rates.call(PageRequest(f"sliders {uuid4()}", 0), slider_places, question)
        return found

    def answer(self, question: PageQuestion, model: ModelFile | None, request: PageRequest) -> CalculatedAnswer | None:
        """See `calculated_answer`; None if the place has asked again since, as with the following."""
        found: CalculatedAnswer | None = self._rates.call(request, calculated_answer, question, model)
        return found

    def interval(self, question: PageQuestion, model: ModelFile | None, request: PageRequest) -> IntervalAnswer | None:
        """See `interval_answer`."""
        found: IntervalAnswer | None = self._intervals.call(request, interval_answer, question, model)
        return found

    def drawings(
        self, question: PageQuestion, model: ModelFile | None, request: PageRequest
    ) -> tuple[Drawing, ...] | None:
        """See `curve_drawings`."""
        found: tuple[Drawing, ...] | None = self._curves.call(request, curve_drawings, question, model)
        return found

    def recognise(self, function: Callable[[Path], None], folder: Path) -> None:
        """Read an upload where a file that can't be borne ends no more than that process. Raises InputError."""
        self._curves.call(PageRequest(f"upload {folder.name} {uuid4()}", 0), function, folder)

    def close(self) -> None:
        """End the processes."""
        self._rates.close()
        self._intervals.close()
        self._curves.close()
