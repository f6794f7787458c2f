"""What all devices have in common: a name, a kind, and how many requests it serves at a time."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class DeviceRecord:
    """A device. Its class stands in the table of devices.py."""

    name: str
    kind: ClassVar[str]
    """what results call it"""

    @property
    def servers(self) -> int:
        """Requests that it serves at a time."""
        return 1
