"""The reference engine: SimPy processes that define the semantics."""

from oltpsim.simulator.reference.engine import ReferenceEngine, simulate
