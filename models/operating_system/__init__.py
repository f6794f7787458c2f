"""The operating system: page cache, write-back, swap, CPU per call."""

from models.operating_system.operating_system import CfqSpec, NoopSpec, OperatingSystemSpec

__all__ = ["CfqSpec", "NoopSpec", "OperatingSystemSpec"]
