"""Covariance of what the model misses of two machines, and the fit of its few numbers.

A sum of kernels over places (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, 4.2.4): machines of
one setup, of one engine and workload, on one kind of storage as far as storage takes their time, each half constant and
half falling with the distance of the places' numbers; and on one processor as far as that takes their time. The
discrepancy of a simulator as a Gaussian process: Kennedy and O'Hagan, J. R. Statist. Soc. B 63 (2001), 425-464.

The numbers maximise the density of left-out runs, sources left out whole and runs by lot, each source with the weight
of the square root of its runs; Student's t of six degrees of freedom, so that single machines don't decide.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Self

import numpy as np
import scipy
import yaml

from oltpsim.calibration.atlas.runs import KINDS, NUMBERS, AtlasRun, Place
from oltpsim.models.input import as_mapping, parse_yaml
from oltpsim.simulator.form import BoolArray, FloatArray

SHIPPED_KERNEL = Path(__file__).with_name("kernel.yaml")
FREEDOM = 6.0
FOLDS = 4
AMPLITUDE_PRIOR, LENGTH_PRIOR = 0.7, 0.5
"""standard deviations of the logarithms of amplitudes and lengths around their first values"""


@dataclass(frozen=True)
class AtlasKernel:
    """Amplitudes of the parts, standard deviations of the rate's logarithm, and lengths by NUMBERS.

    `setup`: machines that share all kinds; `setup_storage`: the same, times both storage shares; `single`: what no two
    machines share.
    """

    setup: float = 0.25
    workload: float = 0.2
    storage: float = 0.5
    processor: float = 0.1
    setup_storage: float = 0.4
    single: float = 0.12
    lengths: tuple[float, ...] = (1.0, 1.0, 1.0, 1.5, 1.0, 0.7, 0.4, 0.4)

    def between(self, some: Sequence[Place], others: Sequence[Place]) -> FloatArray:
        """Covariances of what is missed, (some, others), without `single`."""
        alike = _alike(some, others)
        near = 0.5 + 0.5 * np.exp(-0.5 * (_differences(some, others) ** 2 @ np.array(self.lengths) ** -2.0))
        stored = np.outer([each.storage_share for each in some], [each.storage_share for each in others])
        processed = np.outer([each.processor_share for each in some], [each.processor_share for each in others])
        setup = alike.all(axis=2)
        workload = alike[:, :, KINDS.index("replacement")] & alike[:, :, KINDS.index("workload")]
        missed: FloatArray = near * (
            setup * (self.setup**2 + self.setup_storage**2 * stored)
            + workload * self.workload**2
            + alike[:, :, KINDS.index("storage")] * self.storage**2 * stored
        )
        missed += alike[:, :, KINDS.index("processor")] * self.processor**2 * processed
        return missed

    def variance(self, place: Place) -> float:
        """Variance of what is missed of a machine, `single` included."""
        return float(self.between([place], [place])[0, 0]) + self.single**2

    @classmethod
    def read(cls, path: Path = SHIPPED_KERNEL) -> Self:
        """The kernel that `write` wrote."""
        values = as_mapping(parse_yaml(path.read_text(encoding="utf-8"), path.name), path.name)
        return cls(**{**values, "lengths": tuple(values["lengths"][name] for name in NUMBERS)})

    def write(self, path: Path = SHIPPED_KERNEL) -> None:
        """Write the kernel's numbers, three digits each."""
        values = {name: value for name, value in asdict(self).items() if name != "lengths"}
        rounded = {name: float(f"{value:.3g}") for name, value in values.items()}
        lengths = {name: float(f"{value:.3g}") for name, value in zip(NUMBERS, self.lengths, strict=True)}
        text = yaml.safe_dump({**rounded, "lengths": lengths}, sort_keys=False)
        head = "# Written by python docs/build_described.py --fit; calibration/atlas/kernel.py says what each is.\n"
        path.write_text(head + text, encoding="utf-8")

    @classmethod
    def from_logs(cls, logs: FloatArray) -> Self:
        """The kernel of logarithms: amplitudes in the fields' order, then lengths."""
        amplitudes, lengths = np.exp(logs[:AMPLITUDES]).tolist(), np.exp(logs[AMPLITUDES:]).tolist()
        return cls(**dict(zip(AMPLITUDE_NAMES, amplitudes, strict=True)), lengths=tuple(lengths))

    @property
    def logs(self) -> FloatArray:
        """Logarithms as `from_logs` takes them."""
        values = [float(getattr(self, name)) for name in AMPLITUDE_NAMES]
        return np.log(np.array([*values, *self.lengths], dtype=np.float64))


AMPLITUDE_NAMES = tuple(each.name for each in fields(AtlasKernel) if each.name != "lengths")
AMPLITUDES = len(AMPLITUDE_NAMES)


def left_out(kernel: AtlasKernel, runs: Sequence[AtlasRun], groups: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """Means and standard deviations of each run's missed logarithm, by the runs of all other groups."""
    places = [run.place for run in runs]
    between = kernel.between(places, places)
    missed = np.array([run.missed for run in runs])
    noise = np.array([run.noise_sd for run in runs]) ** 2 + kernel.single**2
    mean, variance = np.zeros(len(runs)), between.diagonal() + noise
    of_group = np.array(groups)
    for group in dict.fromkeys(groups):
        out: BoolArray = of_group == group
        if out.all():
            continue
        known = between[np.ix_(~out, ~out)] + np.diag(noise[~out])
        gain = np.linalg.solve(known, between[np.ix_(~out, out)])
        mean[out] = missed[~out] @ gain
        variance[out] -= (between[np.ix_(~out, out)] * gain).sum(axis=0)
    return mean, np.sqrt(variance)


def fitted_kernel(runs: Sequence[AtlasRun], seed: int = 1) -> AtlasKernel:
    """The kernel under which left-out runs are the most probable."""
    start = AtlasKernel()
    sources = [run.source for run in runs]
    lot = np.random.default_rng(seed).integers(0, FOLDS, len(runs)).astype(str).tolist()
    weights = np.array([sources.count(source) ** -0.5 for source in sources])
    weights *= len(set(sources)) / weights.sum() * 10.0
    spread = np.repeat([AMPLITUDE_PRIOR, LENGTH_PRIOR], [AMPLITUDES, len(NUMBERS)])
    missed = np.array([run.missed for run in runs])

    def loss(logs: FloatArray) -> float:
        kernel = AtlasKernel.from_logs(logs)
        total = 0.5 * float((((logs - start.logs) / spread) ** 2).sum())
        for groups in (sources, lot):
            mean, sd = left_out(kernel, runs, groups)
            scale = sd * np.sqrt((FREEDOM - 2.0) / FREEDOM)
            total -= float(weights @ scipy.stats.t.logpdf((missed - mean) / scale, FREEDOM) - weights @ np.log(scale))
        return total

    found = scipy.optimize.minimize(loss, start.logs, method="L-BFGS-B", options={"maxiter": 30})
    return AtlasKernel.from_logs(found.x)


def _alike(some: Sequence[Place], others: Sequence[Place]) -> BoolArray:
    """Whether kinds are the same, (some, others, KINDS)."""
    left, right = (np.array([each.kinds for each in places]) for places in (some, others))
    alike: BoolArray = left[:, None] == right[None]
    return alike


def _differences(some: Sequence[Place], others: Sequence[Place]) -> FloatArray:
    """Differences of numbers, (some, others, NUMBERS)."""
    left, right = (np.array([each.numbers for each in places], dtype=np.float64) for places in (some, others))
    differences: FloatArray = left[:, None] - right[None]
    return differences
