"""The load generator: started in a group of its own, its output copied into a file, ended gently."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from oltpsim.calibration.measure.redaction import Redaction, secrets_in
from oltpsim.simulator.errors import InputError

GRACE_S = 10.0
"""between two requests to end, each firmer than the one before"""
POLL_S = 0.05
GUARD = 'read -r _; for request in INT TERM KILL; do kill -s "$request" -- "-$1" || exit 0; sleep "$2"; done'
"""Ends the group once nobody holds the other end of its stdin: what kills this program leaves no load behind."""


class Harness:
    """A running command. Its output goes to a file and, line by line, to `shown`."""

    def __init__(self, command: Sequence[str], log: Path, shown: TextIO | None, umask: int = -1) -> None:
        """`umask`: of the command's own files; -1 leaves this program's."""
        self._hidden = Redaction(secrets_in(command, os.environ))
        self._log, self._shown = log, shown
        try:
            self._process = subprocess.Popen(  # noqa: S603 - running what the user typed is what it is for
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                umask=umask,
            )
        except OSError as error:
            raise InputError(f"measure: {command[0]}: can't be started: {error.strerror}; check its name") from error
        try:
            self._guard = self._started_guard()
        except OSError as error:
            os.killpg(self._process.pid, signal.SIGKILL)
            raise InputError(
                f"measure: /bin/sh: can't be started: {error.strerror}; the load generator ended"
            ) from error
        self._reader = threading.Thread(target=self._copy, daemon=True)
        self._reader.start()

    def _started_guard(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - a script of ours
            ["/bin/sh", "-c", GUARD, "guard", str(self._process.pid), str(int(GRACE_S))],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    @property
    def process(self) -> int:
        """Number of its first process."""
        return self._process.pid

    def _copy(self) -> None:
        assert self._process.stdout is not None
        with self._log.open("w", encoding="utf-8") as log, self._process.stdout as output:
            for line in output:
                text = self._hidden(line.decode("utf-8", errors="replace"))
                log.write(text)
                log.flush()
                if self._shown is not None:
                    with suppress(OSError):  # a terminal that has gone is no reason to end the load
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
        self._dismiss_guard()
        self._reader.join(GRACE_S)
        return status

    def _dismiss_guard(self) -> None:
        """Before its group's number can belong to somebody else."""
        assert self._guard.stdin is not None
        self._guard.kill()
        self._guard.wait()
        self._guard.stdin.close()

    def end(self) -> None:
        """Ask its group to end: as by Ctrl-C, then firmly, then at once. Nothing if it has ended by itself."""
        if self.has_ended():
            return
        for request in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            if not self._is_signalled(request):
                return
            self.wait(GRACE_S)
            until_s = time.monotonic() + GRACE_S
            while self._is_signalled(0) and time.monotonic() < until_s:
                time.sleep(POLL_S)

    def _is_signalled(self, request: int) -> bool:
        """Whether somebody of the group is there, its first process or what that has left behind."""
        try:
            os.killpg(self._process.pid, request)
        except ProcessLookupError:
            return False
        return True


def terminal(quiet: bool) -> TextIO | None:
    """Where the harness's output is shown while it runs: stderr, since stdout has the answer."""
    return None if quiet else sys.stderr
