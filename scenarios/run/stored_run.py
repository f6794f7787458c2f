"""A run as a sweep keeps it: what its row needs as one line of JSON, and the whole result, compressed.

Made where the run was run, so that the process that keeps them has next to nothing to do for each.
"""

from __future__ import annotations

import hashlib
import json
import platform
import zlib
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version

from calibration.records import code_digest
from models.scenario import ScenarioSpec
from scenarios.run.simulation import OnStep, SimulationTask, simulate
from simulator.errors import InputError
from simulator.form import OnProgress
from simulator.results import Estimate, Result, read_result, result_json

FORMAT = "oltpsim-runs-1"
DONE, REFUSED = "done", "refused"
COUNTED = ("models", "simulator")
"""The packages whose code decides what a run gives."""
LIBRARIES = ("oltpsim", "numpy", "numba", "scipy", "simpy")


@dataclass(frozen=True)
class RunFigures:
    """What a row of a sweep shows of one run."""

    engine: str
    versions: dict[str, str]
    model_hash: str
    rate_per_min: Estimate
    bottleneck: str
    cpu_utilisation: float
    disk_utilisation: float
    hit_ratios: dict[str, float]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class StoredRun:
    """What came of a run. `answer` is JSON: its figures if `status` is done, the reason if the machine can't run it.

    `result` is the whole result as compressed JSON, empty for a refusal.
    """

    status: str
    answer: str
    result: bytes

    @property
    def figures(self) -> RunFigures | None:
        """The figures of a run that was done."""
        if self.status != DONE:
            return None
        data = json.loads(self.answer)
        data["rate_per_min"] = Estimate(**data["rate_per_min"])
        data["warnings"] = tuple(data["warnings"])
        return RunFigures(**data)

    @property
    def reason(self) -> str:
        """Why the machine can't run it; empty if it did."""
        return "" if self.status == DONE else str(json.loads(self.answer)["reason"])

    def whole(self, where: str) -> Result:
        """The result of a run that was done; `where` names it in messages."""
        return read_result(zlib.decompress(self.result).decode(), where)


def perform_run(
    expected: str, task: SimulationTask, on_progress: OnProgress | None, on_step: OnStep | None
) -> StoredRun:
    """Run a task and make its record. A machine that can't run the workload is an answer too.

    Raises InputError where another program would run it than the one that named it, which is `expected`.
    """
    if program_hash() != expected:
        raise InputError(
            f"{platform.node()}: its oltpsim, libraries or Python ({described()}) differ from those that began this "
            "sweep, and so may its results: make them the same on all machines, and don't change them meanwhile"
        )
    try:
        result = simulate(task, on_progress, on_step)
    except InputError as error:
        return StoredRun(REFUSED, _line({"reason": str(error)}), b"")
    return StoredRun(DONE, _line(asdict(figures_of(result))), zlib.compress(result_json(result).encode()))


def figures_of(result: Result) -> RunFigures:
    """What a row shows of a result. The busiest disk that is read counts; where none is, the busiest."""
    data_devices = [device for device in result.devices if device.reads_per_s > 0] or result.devices
    return RunFigures(
        engine=result.engine,
        versions=result.versions,
        model_hash=result.model_hash,
        rate_per_min=result.rate_per_min,
        bottleneck=result.bottleneck.name,
        cpu_utilisation=result.cpu.utilisation,
        disk_utilisation=max((device.utilisation for device in data_devices), default=0.0),
        hit_ratios={cache.name: cache.hit_ratio for cache in result.caches},
        warnings=(*result.warnings, *(f"broken law: {law.name}; do not use this" for law in result.broken_laws)),
    )


def _line(data: object) -> str:
    return json.dumps(data, sort_keys=True, allow_nan=False)


@cache
def program_hash() -> str:
    """Names all but scenario and seed that a result depends on: code, libraries, interpreter, kind of processor."""
    return hashlib.sha256(f"{FORMAT} {described()}".encode()).hexdigest()[:20]


@cache
def described() -> str:
    """The same in words."""
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    code = code_digest(*COUNTED).hex()[:20]
    return f"{libraries}, python {platform.python_version()}, {platform.machine()}, code {code}"


def scenario_text(scenario: ScenarioSpec) -> str:
    """A scenario as one line of canonical JSON."""
    return _line(scenario.model_dump(mode="json"))


def run_hash(scenario: str, seed: int) -> str:
    """Names a run by all that its result depends on. `scenario` is as `scenario_text` writes it."""
    return hashlib.sha256(f"{program_hash()} {seed} {scenario}".encode()).hexdigest()[:20]
