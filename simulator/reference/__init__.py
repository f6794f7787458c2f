"""The reference engine: SimPy processes that define the semantics."""

from simulator.reference.engine import ReferenceEngine, simulate
