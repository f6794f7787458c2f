"""What all devices have in common: a name, a kind, and numbers that engines get by their names."""

from dataclasses import dataclass, fields
from typing import ClassVar


@dataclass(frozen=True)
class DeviceRecord:
    """A device. Its class stands in the table of devices.py."""

    name: str
    kind: ClassVar[str]
    """what results call it"""

    def numbers(self) -> dict[str, int]:
        """What engines get: all fields that are whole numbers."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, int)}

    @property
    def servers(self) -> int:
        """Requests that it serves at a time."""
        return 1
