"""What the laboratory asks of a database server: start, end, the loaded state, what it reads ahead of a run."""

import shutil
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from oltpsim.calibration.lab.groups import Group
from oltpsim.models.database import DatabaseSpec
from oltpsim.simulator.errors import InputError

DATABASE = "tpcc"
STARTS_WITHIN_S = 300.0
STARTING = "the database system is starting up"
"""PostgreSQL's answer to whoever asks too early"""


@dataclass
class Server(ABC):
    """A server of the laboratory's own.

    `data`: its folder; `sockets`: folder of its socket, for it listens on no address; `group`: what its processes run
    in.
    """

    data: Path
    sockets: Path
    group: Group
    process: subprocess.Popen[bytes] | None = None
    user: ClassVar[str]
    """that it runs as"""

    @property
    @abstractmethod
    def version(self) -> str:
        """Version of the program. Raises InstallationError if it isn't installed."""

    @property
    @abstractmethod
    def environment(self) -> dict[str, str]:
        """What a client needs to find it."""

    @property
    def option_file(self) -> str:
        """Contents of ~/.my.cnf, where the server is one of those whose clients read it."""
        return ""

    @property
    @abstractmethod
    def kit_words(self) -> tuple[str, ...]:
        """How the kit finds it."""

    @property
    def folders(self) -> dict[str, str]:
        """Where its data lies, and its log."""
        return {"data": str(self.data), "log": str(self.log_folder)}

    @property
    def first_process(self) -> int:
        """Number of its first process, which started the others."""
        assert self.process is not None
        return self.process.pid

    @property
    @abstractmethod
    def log_folder(self) -> Path:
        """Where its log lies, or a link to that."""

    @abstractmethod
    def settings(self, database: DatabaseSpec, clients: int) -> dict[str, str]:
        """What the server is told for this database, by its own names."""

    @abstractmethod
    def load_settings(self, page_kib: float) -> dict[str, str]:
        """What it is told for the load alone: quick, and not safe against a loss of power."""

    @abstractmethod
    def words(self, settings: dict[str, str]) -> Sequence[str]:
        """The command that starts it."""

    @abstractmethod
    def initialise(self, page_kib: float) -> None:
        """Make an empty server in its folder."""

    @abstractmethod
    def is_ready(self) -> bool:
        """Whether it answers."""

    @abstractmethod
    def create(self) -> None:
        """Make the database that is loaded."""

    @abstractmethod
    def settle(self) -> None:
        """Do after the load what would be done in the middle of runs otherwise."""

    @abstractmethod
    def prewarm(self, into: str) -> None:
        """Read all tables and indexes, in the order of the load."""

    @abstractmethod
    def move_log(self, place: Path) -> None:
        """Put the log's files on a file system of their own, before the start."""

    def precondition_log(self, settings: dict[str, str], log: Path) -> None:  # noqa: B027 - most need nothing
        """Rewrite the log's blocks, where first writes are slower; the server ran before, and runs afterwards."""

    @abstractmethod
    def stop(self) -> None:
        """End it in order, as before its state is kept."""

    @abstractmethod
    def kill(self) -> None:
        """End it at once, as before its state is thrown away."""

    def start(self, settings: dict[str, str], log: Path) -> None:
        """Start it and wait until it answers. Raises InputError with its own words."""
        self.sockets.mkdir(mode=0o700, exist_ok=True)
        shutil.chown(self.sockets, self.user, self.user)
        with log.open("ab") as output:
            begins = output.tell()
            self.process = subprocess.Popen(  # noqa: S603 - the server's program by its path
                self.group.entered(self.words(settings)),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                cwd="/",
            )
        until_s = time.monotonic() + STARTS_WITHIN_S
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > until_s:
                text = log.read_bytes()[begins:].decode("utf-8", errors="replace")
                lines = text.strip().splitlines() or ["it wrote nothing"]
                errors = [line for line in lines if "ERROR" in line or ("FATAL" in line and STARTING not in line)]
                raise InputError(f"lab: the database server doesn't start: {(errors or lines)[-1]} (all in {log})")
            time.sleep(0.1)

    def end(self, number: int, in_order: bool = False) -> None:
        """End its first process by a signal and wait for it; nothing if it doesn't run.

        Raises InputError if it was to end in order and didn't.
        """
        process, self.process = self.process, None
        if process is None:
            return
        process.send_signal(number)
        status = process.wait(STARTS_WITHIN_S)
        if in_order and status:
            raise InputError(f"lab: the database server ended with status {status}; its state isn't kept")
