"""What-if: the rate at settings around a machine's own, found before anybody moves a slider."""

from oltpsim.scenarios.questions.what_if.grid import (
    BUFFERS,
    CLIENTS,
    DISKS,
    RAM,
    MachineAnswer,
    VariedSetting,
    WhatIf,
    what_if,
)
