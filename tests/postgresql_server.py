"""A PostgreSQL server of the tests' own: in a folder of its own, on a socket of its own, ended with them."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PASSWORD = "correct-horse-battery"  # noqa: S105 - of a server that lives for some seconds
PORT = 54_329
"""names the socket only: the server listens on no address"""
VARIABLES = ("PGHOST", "PGHOSTADDR", "PGPORT", "PGUSER", "PGDATABASE", "PGPASSFILE", "PGPASSWORD", "PGSERVICE")


def programs() -> Path | None:
    """Folder of the newest server's programs, as Debian installs them; None if there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return found[-1].parent if found else None


@dataclass(frozen=True)
class Server:
    """A running server. `password_file`: of its superuser bench."""

    programs: Path
    folder: Path
    password_file: Path

    @property
    def environment(self) -> dict[str, str]:
        """Environment of a program that connects to it."""
        here = {name: value for name, value in os.environ.items() if name not in VARIABLES}
        return here | {
            "PGHOST": str(self.folder),
            "PGPORT": str(PORT),
            "PGUSER": "bench",
            "PGDATABASE": "postgres",
            "PGPASSFILE": str(self.password_file),
            "PATH": f"{self.programs}:{os.environ['PATH']}",
        }

    def query(self, text: str) -> str:
        """Answer of a query, by psql."""
        return run(["psql", "-XAtqc", text], env=self.environment)


def run(command: list[str], **settings: object) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, **settings)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


@contextmanager
def running_server(programs_folder: Path) -> Iterator[Server]:
    """A server with pgbench's tables of scale 1, started as an unprivileged user if this is root."""
    folder = Path(tempfile.mkdtemp(prefix="oltpsim-postgresql-"))
    user = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
    if user:
        shutil.chown(folder, "postgres", "postgres")
    folder.chmod(0o755)
    secret = folder / "password"
    secret.write_text(PASSWORD + "\n")
    password_file = folder / "pgpass"
    password_file.write_text(f"*:*:*:bench:{PASSWORD}\n")
    password_file.chmod(0o600)
    server, data = Server(programs_folder, folder, password_file), folder / "data"
    control = [str(programs_folder / "pg_ctl"), "-D", str(data), "-w"]
    options = f"-p {PORT} -k {folder} -c listen_addresses= -c shared_buffers=16MB -c fsync=off"
    try:
        initdb = [str(programs_folder / "initdb"), "-D", str(data), "-U", "bench", "-A", "scram-sha-256", "--no-sync"]
        run([*initdb, f"--pwfile={secret}"], cwd=folder, **user)
        run([*control, "-o", options, "-l", str(folder / "log"), "start"], cwd=folder, **user)
        try:
            run(["pgbench", "-i", "-s", "1", "-q"], env=server.environment)
            yield server
        finally:
            run([*control, "-m", "immediate", "stop"], cwd=folder, **user)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
