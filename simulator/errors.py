"""The exception tree.

OltpsimError
 ├── InputError            something a person wrote is wrong: exit status 2
 │    └── Infeasible       the machine cannot run the workload: the message says why, in numbers
 ├── InstallationError     a part of the program is missing or of another version: exit status 2, with the remedy
 └── InternalError         the simulator broke one of its own rules: a defect, please report
"""

SMALLER_SYSTEM = "simulate a smaller system"
"""remedy of a system that is too large, for which a scenario has words of its own"""


class OltpsimError(Exception):
    """Base of everything raised on purpose."""


class InputError(OltpsimError):
    """Bad input. `str(error)` is one message: which file, which key, what came, what is allowed."""


class Infeasible(InputError):
    """A well-formed question whose machine cannot run the workload at all."""


class InstallationError(OltpsimError):
    """A part of the installed program is missing or doesn't belong to it. `str(error)` says what to do."""


class InternalError(OltpsimError):
    """A rule of the simulator itself was broken."""
