"""The exception tree.

OltpsimError
 ├── InputError            something a person wrote is wrong: exit status 2
 │    └── Infeasible       the machine cannot run the workload: the message says why, in numbers
 └── InternalError         the simulator broke one of its own rules: a defect, please report
"""


class OltpsimError(Exception):
    """Base of everything raised on purpose."""


class InputError(OltpsimError):
    """Bad input. `str(error)` is one message: which file, which key, what came, what is allowed."""


class Infeasible(InputError):
    """A well-formed question whose machine cannot run the workload at all."""


class InternalError(OltpsimError):
    """A rule of the simulator itself was broken."""
