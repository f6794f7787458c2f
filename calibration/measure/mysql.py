"""MySQL's or MariaDB's status and settings, by its client program and that program's option files (~/.my.cnf)."""

import shutil
import subprocess

from oltpsim.simulator.errors import InputError, InstallationError

CLIENTS = ("mariadb", "mysql")
LONGEST_QUERY_S = 30
RECORDED = (
    "innodb_", "version", "sync_binlog", "log_bin$", "binlog_(format|cache|order|group|row|stmt|transaction)",
    "(max|thread|table|query|join|sort|read|tmp|key|back)_", "thread_pool", "performance_schema$", "autocommit",
    "(transaction|tx)_isolation", "large_pages", "low_priority_updates", "skip_", "flush", "default_storage_engine",
    "(replica|slave)_(parallel|preserve)", "rocksdb_", "aria_", "wsrep_(on|slave_threads)$",
)  # fmt: skip
"""Beginnings of the names of settings that decide how fast a server is. Others may hold a password (report_password) or
name hosts."""


def client_program() -> str:
    """Path of the client. Raises InstallationError if there is none."""
    found = next((path for name in CLIENTS if (path := shutil.which(name))), None)
    if found is None:
        raise InstallationError("measure: reading MySQL needs its client program, mariadb or mysql, on the path")
    return found


def answer(client: str, query: str) -> str:
    """The client's text, tab-separated with a header. Raises InputError with the server's words."""
    try:
        done = subprocess.run(  # noqa: S603 - a program of the path, a query of ours
            [client, "--batch", f"--execute={query}"],
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=LONGEST_QUERY_S,
        )
    except subprocess.TimeoutExpired as error:
        raise InputError(f"measure: MySQL: no answer in {LONGEST_QUERY_S} s") from error
    if done.returncode:
        reason = " ".join(done.stderr.split()) or f"exit status {done.returncode}"
        raise InputError(
            f"measure: MySQL: {reason}; put user, password and socket into the client's option file (~/.my.cnf), or "
            "--database none"
        )
    return done.stdout


def status(client: str) -> str:
    """Counters of the whole server."""
    return answer(client, "SHOW GLOBAL STATUS")


def variables(client: str) -> str:
    """Settings in force, of those that can hold no secret."""
    return answer(client, f"SHOW GLOBAL VARIABLES WHERE Variable_name REGEXP '^({'|'.join(RECORDED)})'")
