"""The reference engine: SimPy processes that define the semantics."""
