"""The load generator: started in a group of its own, its output copied into a file, ended gently."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from oltpsim.simulator.errors import InputError

GRACE_S = 10.0
"""between two requests to end, each firmer than the one before"""
VARIABLES = ("PGPASSWORD", "MYSQL_PWD", "PASSWORD")
ASSIGNED = re.compile(r"[\w.-]*pass(?:word|wd)?[=:](\S+)", re.IGNORECASE)
NAMED_NEXT = re.compile(r"^-{0,2}[\w.-]*?pass(?:word|wd)?$", re.IGNORECASE)
IN_ADDRESS = re.compile(r"://[^:/@\s]*:([^@/\s]+)@")
SHORT = re.compile(r"^-p(\S+)$")
"""as MySQL's client has it; of pgbench it is a port"""


def secrets_in(words: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """Passwords that a command line or its environment holds, so that no file gets them; the longest first."""
    found = [environment[name] for name in VARIABLES if environment.get(name)]
    for at, word in enumerate(words):
        found += [given for given in (*ASSIGNED.findall(word), *SHORT.findall(word)) if not given.isdigit()]
        found += IN_ADDRESS.findall(word)
        if NAMED_NEXT.match(word) and at + 1 < len(words):
            found.append(words[at + 1])
    return sorted(set(found), key=len, reverse=True)


class Harness:
    """A running command. Its output goes to a file and, line by line, to `shown`."""

    def __init__(self, command: Sequence[str], log: Path, shown: TextIO | None) -> None:
        secrets = secrets_in(command, os.environ)
        self._secret = re.compile("|".join(rf"(?<!\w){re.escape(each)}(?!\w)" for each in secrets)) if secrets else None
        self._log, self._shown = log, shown
        try:
            self._process = subprocess.Popen(  # noqa: S603 - running what the user typed is what it is for
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise InputError(f"measure: {command[0]}: can't be started: {error.strerror}; check its name") from error
        self._reader = threading.Thread(target=self._copy, daemon=True)
        self._reader.start()

    @property
    def process(self) -> int:
        """Number of its first process."""
        return self._process.pid

    def _copy(self) -> None:
        assert self._process.stdout is not None
        with self._log.open("w", encoding="utf-8") as log, self._process.stdout as output:
            for line in output:
                text = line.decode("utf-8", errors="replace")
                text = self._secret.sub("****", text) if self._secret else text
                log.write(text)
                log.flush()
                if self._shown is not None:
                    print(text, end="", file=self._shown, flush=True)

    def has_ended(self) -> bool:
        """Whether it has."""
        return self._process.poll() is not None

    def wait(self, seconds: float) -> None:
        """Wait for its end, at most so long."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(max(seconds, 0.0))

    def finish(self) -> int:
        """Exit status, once it has ended and all its output is in the file."""
        status = self._process.wait()
        self._reader.join(GRACE_S)
        return status

    def end(self) -> None:
        """Ask its group to end: as by Ctrl-C, then firmly, then at once. Nothing if it has ended."""
        for request in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            if self.has_ended():
                return
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, request)
            self.wait(GRACE_S)


def terminal(quiet: bool) -> TextIO | None:
    """Where the harness's output is shown while it runs: stderr, since stdout has the answer."""
    return None if quiet else sys.stderr
