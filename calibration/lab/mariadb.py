"""MariaDB in the laboratory: its settings by a scenario, its start and end, and what it reads ahead of a run."""

import shutil
import signal
from collections.abc import Sequence
from pathlib import Path

from oltpsim.calibration.lab.server import DATABASE, Server
from oltpsim.calibration.lab.storage import rewrite_in_place, run
from oltpsim.models.database import DatabaseSpec
from oltpsim.simulator.errors import InputError, InstallationError
from oltpsim.simulator.form import GIB, KIB

SOCKET, LOG, REDO = "mariadb.sock", "redo", "ib_logfile0"
INDEXES = (
    "select table_name, index_name from information_schema.statistics "
    "where table_schema = database() and seq_in_index = 1 order by table_name, index_name"
)
LEAST_SCAN_DEPTH = 100
"""of innodb_lru_scan_depth"""


def server_program() -> str:
    """Path of the server. Raises InstallationError if there is none."""
    found = shutil.which("mariadbd") or shutil.which("mariadbd", path="/usr/sbin")
    if found is None:
        raise InstallationError("lab: MariaDB isn't installed: run 'apt-get install mariadb-server' as root")
    return found


class MariaDBServer(Server):
    """Debian's MariaDB, with InnoDB."""

    user = "mysql"

    @property
    def version(self) -> str:
        """Major and minor version, such as 10.11."""
        return ".".join(run(server_program(), "--version").split("Ver ")[1].split("-")[0].split(".")[:2])

    @property
    def environment(self) -> dict[str, str]:
        """None: the client's option file says it, which counts more than the host's own in /etc."""
        return {}

    @property
    def option_file(self) -> str:
        """User and socket."""
        return f"[client]\nuser=root\nsocket={self.sockets / SOCKET}\n"

    @property
    def kit_words(self) -> tuple[str, ...]:
        """Sysbench's options."""
        socket = f"--mysql-socket={self.sockets / SOCKET}"
        return ("--db-driver=mysql", socket, "--mysql-user=root", f"--mysql-db={DATABASE}")

    @property
    def log_folder(self) -> Path:
        """The redo log's, or the data's where that hasn't one of its own."""
        return self.data / LOG if (self.data / LOG).exists() else self.data

    def settings(self, database: DatabaseSpec, clients: int) -> dict[str, str]:
        """Its variables; the pool isn't kept over restarts, there is no performance schema."""
        cleaner = database.page_cleaner
        chosen = {
            "innodb_page_size": str(round(database.page_kib * KIB)),
            "innodb_buffer_pool_size": str(round(database.pool.buffers * database.page_kib * KIB)),
            "innodb_flush_method": "O_DIRECT" if database.io == "direct" else "fsync",
            "innodb_flush_log_at_trx_commit": "1" if database.log.commit == "durable" else "2",
            "innodb_buffer_pool_dump_at_shutdown": "0",
            "innodb_buffer_pool_load_at_startup": "0",
            "max_connections": str(clients + 10),
            "performance_schema": "0",
        }
        if cleaner is not None:
            chosen |= {
                "innodb_io_capacity": str(round(cleaner.io_capacity_per_s)),
                "innodb_io_capacity_max": str(round(cleaner.io_capacity_max_per_s)),
                "innodb_lru_scan_depth": str(max(cleaner.lru_scan_depth_pages, LEAST_SCAN_DEPTH)),
                "innodb_max_dirty_pages_pct": f"{100 * cleaner.dirty_high_fraction:g}",
                "innodb_max_dirty_pages_pct_lwm": f"{100 * cleaner.dirty_low_fraction:g}",
                "innodb_log_file_size": str(round(cleaner.redo_capacity_gib * GIB)),
                "innodb_doublewrite": "1" if cleaner.doublewrite else "0",
                "innodb_flush_neighbors": "0" if cleaner.neighbour_pages == 1 else "1",
            }
        return chosen

    def load_settings(self, page_kib: float) -> dict[str, str]:
        """No flush for each commit, no second writing, much memory and log."""
        return {
            "innodb_page_size": str(round(page_kib * KIB)),
            "innodb_buffer_pool_size": str(2 * GIB),
            "innodb_flush_log_at_trx_commit": "0",
            "innodb_log_file_size": str(GIB),
            "innodb_doublewrite": "0",
        }

    def words(self, settings: dict[str, str]) -> Sequence[str]:
        """The server, which becomes its unprivileged user itself."""
        log = [f"--innodb-log-group-home-dir={self.data / LOG}"] if (self.data / LOG).exists() else []
        options = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]
        socket, pid = self.sockets / SOCKET, self.sockets / "mariadb.pid"
        here = [f"--datadir={self.data}", f"--socket={socket}", f"--pid-file={pid}", "--skip-networking"]
        return [server_program(), "--no-defaults", f"--user={self.user}", *here, *log, *options]

    def initialise(self, page_kib: float) -> None:
        """By mariadb-install-db."""
        self.data.mkdir(mode=0o700, exist_ok=True)
        shutil.chown(self.data, self.user, self.user)
        size = f"--innodb-page-size={round(page_kib * KIB)}"
        run(
            "mariadb-install-db",
            "--no-defaults",
            f"--user={self.user}",
            f"--datadir={self.data}",
            "--skip-test-db",
            size,
        )

    def query(self, text: str) -> str:
        """Answer of the client."""
        here = ["--no-defaults", f"--socket={self.sockets / SOCKET}", "--user=root"]
        return run("mariadb", *here, "--batch", "--skip-column-names", "-e", text).strip()

    def is_ready(self) -> bool:
        """Whether it answers a query."""
        try:
            self.query("select 1")
        except InputError:
            return False
        return True

    def create(self) -> None:
        """The database."""
        self.query(f"create database {DATABASE}")

    def settle(self) -> None:
        """Its stop in order is to empty undo and write all pages."""
        self.query("set global innodb_fast_shutdown = 0")

    def prewarm(self, into: str) -> None:
        """By counting the entries of each index. Raises InputError for the page cache, which it doesn't use."""
        if into != "pool":
            raise InputError(f"lab: interval.prewarm.into: got {into}; MariaDB reads into its pool: pool")
        indexes = self.query(f"use {DATABASE}; {INDEXES}")
        for line in indexes.splitlines():
            table, index = line.split("\t")
            self.query(f"select count(*) from {DATABASE}.{table} force index ({index})")  # noqa: S608 - the kit's names

    def move_log(self, place: Path) -> None:
        """The redo log goes into a folder there, which a link in the data names."""
        target = place / LOG
        target.mkdir()
        run("mv", self.data / REDO, target)
        run("chown", "-R", f"{self.user}:{self.user}", target)
        (self.data / LOG).symlink_to(target)

    def precondition_log(self, settings: dict[str, str], log: Path) -> None:
        """The start has made a new redo log, of blocks that were never written.

        The first write to such a block costs ext4 one to its journal, at every sync until the log has come round.
        """
        self.stop()
        rewrite_in_place(self.log_folder / REDO)
        self.start(settings, log)

    def stop(self) -> None:
        """Slow shutdown: undo is emptied, all pages are written. Raises InputError if it fails."""
        self.end(signal.SIGTERM, in_order=True)

    def kill(self) -> None:
        """Without a shutdown."""
        self.end(signal.SIGKILL)
