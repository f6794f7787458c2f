"""PostgreSQL in the laboratory: its settings by a scenario, its start and end, and what it reads ahead of a run."""

import shutil
import signal
from collections.abc import Sequence
from pathlib import Path

from oltpsim.calibration.lab.server import DATABASE, Server
from oltpsim.calibration.lab.storage import run
from oltpsim.models.database import DatabaseSpec
from oltpsim.simulator.errors import InputError, InstallationError
from oltpsim.simulator.form import GIB, MIB

ROLE, PORT = "bench", 54_330
"""the port names the socket only"""
MOST_LOG_GIB = 64.0
"""max_wal_size where a scenario has no limit"""
PREWARM = (
    "select sum(pg_prewarm(oid::regclass, '{mode}')) from (select oid from pg_class where relkind in ('r', 'i') "
    "and relnamespace = 'public'::regnamespace order by oid) as loaded"
)
"""tables and indexes in the order in which the load made them"""


def programs() -> Path:
    """Folder of the newest server's programs. Raises InstallationError if there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if not found:
        raise InstallationError("lab: PostgreSQL isn't installed: run 'apt-get install postgresql' as root")
    return found[-1].parent


class PostgreSQLServer(Server):
    """Debian's newest PostgreSQL."""

    user = "postgres"

    @property
    def version(self) -> str:
        """Major version."""
        return programs().parts[-2]

    @property
    def environment(self) -> dict[str, str]:
        """Variables of libpq."""
        return {"PGHOST": str(self.sockets), "PGPORT": str(PORT), "PGUSER": ROLE, "PGDATABASE": DATABASE}

    @property
    def kit_words(self) -> tuple[str, ...]:
        """Sysbench's options."""
        return (
            "--db-driver=pgsql",
            f"--pgsql-host={self.sockets}",
            f"--pgsql-port={PORT}",
            f"--pgsql-user={ROLE}",
            f"--pgsql-db={DATABASE}",
        )

    @property
    def log_folder(self) -> Path:
        """pg_wal."""
        return self.data / "pg_wal"

    def settings(self, database: DatabaseSpec, clients: int) -> dict[str, str]:
        """Parameters of postgresql.conf; no autovacuum, no JIT, no parallel queries."""
        checkpoint, writer = database.checkpoint, database.writer
        chosen = {
            "shared_buffers": f"{round(database.pool.buffers * database.page_kib)}kB",
            "max_connections": str(clients + 10),
            "synchronous_commit": "on" if database.log.commit == "durable" else "off",
            "autovacuum": "off",
            "jit": "off",
            "huge_pages": "off",
            "listen_addresses": "",
            "track_io_timing": "off",
            "max_parallel_workers_per_gather": "0",
        }
        if checkpoint is not None:
            chosen |= {
                "checkpoint_timeout": f"{round(checkpoint.interval_s)}s",
                "checkpoint_completion_target": f"{checkpoint.spread_fraction:g}",
                "full_page_writes": "on" if checkpoint.full_page_writes else "off",
                "max_wal_size": f"{round((checkpoint.most_log_gib or MOST_LOG_GIB) * GIB / MIB)}MB",
            }
        if writer is None or not writer.flush_after:
            chosen |= {"checkpoint_flush_after": "0", "bgwriter_flush_after": "0"}
        sweep = None if writer is None else writer.sweep
        if sweep is None:
            chosen["bgwriter_lru_maxpages"] = "0"
        else:
            chosen |= {
                "bgwriter_delay": f"{round(1e3 * sweep.round_s)}ms",
                "bgwriter_lru_maxpages": str(sweep.round_pages),
            }
        return chosen

    def load_settings(self, page_kib: float) -> dict[str, str]:
        """No fsync, and a log that seldom asks for a checkpoint."""
        del page_kib
        return {
            "fsync": "off",
            "shared_buffers": "1GB",
            "max_wal_size": "1GB",
            "maintenance_work_mem": "256MB",
            "autovacuum": "off",
            "listen_addresses": "",
        }

    def words(self, settings: dict[str, str]) -> Sequence[str]:
        """The server as its unprivileged user."""
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        here = ["-D", str(self.data), "-p", str(PORT), "-k", str(self.sockets)]
        return ["setpriv", *self._as_user, str(programs() / "postgres"), *here, *options]

    def initialise(self, page_kib: float) -> None:
        """By initdb. Raises InputError for pages of another size than its programs have."""
        if page_kib != 8:
            raise InputError(f"lab: database.page_kib: got {page_kib:g}; PostgreSQL's pages have 8 KiB")
        self.data.mkdir(mode=0o700, exist_ok=True)
        shutil.chown(self.data, self.user, self.user)
        words = ["-D", str(self.data), "-U", ROLE, "-A", "trust", "--no-sync", "--locale=C", "-E", "UTF8"]
        run("setpriv", *self._as_user, programs() / "initdb", *words)

    @property
    def _as_user(self) -> tuple[str, ...]:
        return (f"--reuid={self.user}", f"--regid={self.user}", "--init-groups")

    def query(self, text: str, database: str = DATABASE) -> str:
        """Answer of psql."""
        here = ["-h", str(self.sockets), "-p", str(PORT), "-U", ROLE, "-d", database]
        return run(programs() / "psql", "-XAtq", "-v", "ON_ERROR_STOP=1", *here, "-c", text).strip()

    def is_ready(self) -> bool:
        """Whether it answers a query."""
        try:
            self.query("select 1", database="postgres")
        except InputError:
            return False
        return True

    def create(self) -> None:
        """The database, and the extension that reads ahead."""
        self.query(f"create database {DATABASE}", database="postgres")
        self.query("create extension pg_prewarm")

    def settle(self) -> None:
        """Hint bits and statistics are written, and the disks have all."""
        self.query("vacuum (analyze, freeze)")
        self.query("checkpoint")

    def prewarm(self, into: str) -> None:
        """By pg_prewarm."""
        self.query(PREWARM.format(mode={"pool": "buffer", "page_cache": "read"}[into]))

    def move_log(self, place: Path) -> None:
        """pg_wal becomes a link."""
        log, target = self.data / "pg_wal", place / "pg_wal"
        run("cp", "-a", log, target)
        shutil.rmtree(log)
        log.symlink_to(target)

    def stop(self) -> None:
        """Fast shutdown, with a checkpoint. Raises InputError if it fails."""
        self.end(signal.SIGINT, in_order=True)

    def kill(self) -> None:
        """Immediate shutdown."""
        self.end(signal.SIGQUIT)
