"""What-if: the rate at settings around a machine's own, found before anybody moves a slider."""

from scenarios.questions.what_if.grid import BUFFERS, CLIENTS, DISKS, RAM, Axis, MachineAnswer, WhatIf, what_if
