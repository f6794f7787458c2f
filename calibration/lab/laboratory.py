"""The laboratory: a folder with loaded states, the machine that is emulated now, and the runs that were measured."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Any, TextIO

from pydantic import ValidationError

from oltpsim.calibration.lab.cleaning import DISKS, MOUNTS, OPTION_FILE, SOCKETS, STATE, claimed, work_folder
from oltpsim.calibration.lab.emulated_disk import EmulatedDisk, compiled_emulated_disk, emulated_disk
from oltpsim.calibration.lab.emulation import GENERATORS, EmulatedMachine, emulated
from oltpsim.calibration.lab.groups import GroupLimits, Hierarchies
from oltpsim.calibration.lab.load_generator import CORE_SPEED_S, LoadGenerator, core_speed_of, core_speed_words
from oltpsim.calibration.lab.mariadb import MariaDBServer
from oltpsim.calibration.lab.postgresql import PostgreSQLServer
from oltpsim.calibration.lab.server import Server
from oltpsim.calibration.lab.storage import (
    BLOCK_BYTES,
    attach,
    copy_image,
    limit_dirty,
    make_image,
    mount,
    release,
    run,
    swap_on,
)
from oltpsim.calibration.measure import DatabaseKind, KnownServer, measure
from oltpsim.models.input import write_whole
from oltpsim.models.machine import DiskArraySpec
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import GIB, MIB

FORMAT = "oltpsim-laboratory-1"
DOCUMENT = "laboratory.json"
"""the last file that a run gets: a folder without it holds an unfinished one"""
SERVERS: dict[str, type[Server]] = {"postgresql": PostgreSQLServer, "mariadb": MariaDBServer}
KINDS = {"postgresql": DatabaseKind.POSTGRESQL, "mariadb": DatabaseKind.MYSQL}
GIB_BESIDE = 3.0
"""room for the log and the system's tables"""
LOG_GIB = 4.0
LONGEST_LOAD_S, LONGEST_LEAD_IN_S = 7200.0, 7200.0
MEMORY = ("cache", "rss", "shmem", "mapped_file", "dirty", "swap", "file", "anon", "kernel", "file_dirty")
"""counters of memory.stat that are kept, of either version"""
OF_CLIENTS = ("PG", "MYSQL", "MARIADB")
"""what the names of variables begin with that say which server is meant"""
Report = Callable[[str], None]
"""what is told of progress"""


@dataclass(frozen=True)
class Laboratory:
    """A laboratory in a folder; one machine at a time on a host (Linux, root)."""

    folder: Path
    report: Report

    def run_folder(self, name: str) -> Path:
        """Folder of a run."""
        return self.folder / "runs" / name

    def is_measured(self, scenario: ScenarioSpec, name: str) -> bool:
        """Whether a run of the scenario is there, and whole. Raises InputError if it is another scenario's."""
        document = self.run_folder(name) / DOCUMENT
        if not document.exists():
            return False
        try:
            kept = ScenarioSpec.model_validate(json.loads(document.read_text(encoding="utf-8"))["scenario"])
        except ValidationError:  # of a version that had other keys
            kept = None
        if kept != scenario:
            raise InputError(
                f"lab: {document.parent} holds a run of another scenario of this name; give another --folder, or "
                "remove it"
            )
        return True

    def measure(self, scenario: ScenarioSpec, name: str, library: str | None, seed: int, shown: TextIO | None) -> Path:
        """Measure a scenario on the emulated machine, into the folder of its name; an unfinished run there goes first.

        `library`: the scenario's name there, for the record.
        Whatever ends it, no process, mount, device or group stays. Raises InputError for what can't be emulated or
        fails, InstallationError for a program that is missing, KeyboardInterrupt after Ctrl-C.
        """
        machine = emulated(scenario, name)
        folder = self.run_folder(name)
        server = SERVERS[machine.engine](MOUNTS, SOCKETS, Hierarchies.mounted().group("database"))
        with claimed(self.folder), _environment(server.environment):
            write_whole(OPTION_FILE, server.option_file)
            self._remove_unfinished(folder)
            work_folder(self.folder).mkdir(parents=True, exist_ok=True)
            image = self._loaded(scenario, machine)
            with ExitStack() as stack:
                standing = EmulatedServer(self, scenario, machine)
                standing.start(image, stack)
                standing.lead_in(seed)
                standing.measure(folder, name, library, seed, shown)
        return folder

    def _remove_unfinished(self, folder: Path) -> None:
        """Remove what a run that was ended has left. Raises InputError if it is something else."""
        if not folder.exists():
            return
        if not (folder / "inventory.json").exists() and any(folder.iterdir()):
            raise InputError(f"lab: {folder} holds something else than an unfinished run; give another --folder")
        shutil.rmtree(folder)

    def _loaded(self, scenario: ScenarioSpec, machine: EmulatedMachine) -> Path:
        """Image with the loaded database, made if it isn't there."""
        page_kib = scenario.database.page_kib
        group, driver = (Hierarchies.mounted().group(name) for name in ("database", "driver"))
        server = SERVERS[machine.engine](MOUNTS / "data" / "server", SOCKETS, group)
        generator = generator_of(server, scenario)
        name = f"{machine.engine}-{server.version}-{page_kib:g}k-{generator.state}.img"
        image = self.folder / "loaded" / name
        if image.exists():
            return image
        self.report(f"loading the database ({generator.state}), once for all runs")
        image.parent.mkdir(parents=True, exist_ok=True)
        draft = image.with_suffix(".loading")
        make_image(draft, round((GIB_BESIDE + generator.state_gib) * GIB))
        everything = GroupLimits(tuple(sorted(os.sched_getaffinity(0))))
        for each in (group, driver):
            each.make(everything)
        mount(attach(draft), MOUNTS / "data")
        server.initialise(page_kib)
        server.start(server.load_settings(page_kib), self.folder / "load.log")
        server.create()
        run(*driver.entered(generator.load_words()), give_up_s=LONGEST_LOAD_S, called="the load")
        server.settle()
        server.stop()
        for each in (group, driver):
            each.end()
        release(MOUNTS)
        draft.replace(image)
        return image


def generator_of(server: Server, scenario: ScenarioSpec) -> LoadGenerator:
    """What drives a server as a scenario says."""
    return GENERATORS[scenario.workload.kind](server, scenario)


class EmulatedServer:
    """The emulated machine with its server, from its start to the end of what is measured."""

    def __init__(self, lab: Laboratory, scenario: ScenarioSpec, machine: EmulatedMachine) -> None:
        self._lab, self._scenario, self._machine = lab, scenario, machine
        found = Hierarchies.mounted()
        self._groups = {name: found.group(name) for name in ("database", "driver", DISKS)}
        self._server = SERVERS[machine.engine](MOUNTS / "data" / "server", SOCKETS, self._groups["database"])
        self._generator = generator_of(self._server, scenario)
        self._disks: dict[str, EmulatedDisk] = {}

    def start(self, image: Path, stack: ExitStack) -> None:
        """Restore the loaded state and start the server on it; the stack ends what was started."""
        machine, work = self._machine, work_folder(self._lab.folder)
        self._lab.report("restoring the loaded state")
        self._groups["database"].make(machine.database)
        self._groups["driver"].make(machine.others)
        self._groups[DISKS].make(replace(machine.others, real_time=True))
        data, log, data_bytes = work / "data.img", work / "log.img", image.stat().st_size
        copy_image(image, data, data_bytes + machine.swap_bytes // BLOCK_BYTES * BLOCK_BYTES)
        self._start_disk("data", data, machine.data, stack)
        if machine.log is not None:
            make_image(log, round(LOG_GIB * GIB))
            self._start_disk("log", log, machine.log, stack)
        stack.callback(self._end)  # before the disks end
        disk = self._disks["data"].file
        device = attach(disk, 0, data_bytes)
        mount(device, MOUNTS / "data")
        limit_dirty(device, machine.dirty_bytes)
        if machine.swap_bytes:
            swap_on(attach(disk, data_bytes, machine.swap_bytes))
        if machine.log is not None:
            mount(attach(self._disks["log"].file), MOUNTS / "log")
            self._server.move_log(MOUNTS / "log")
        settings = self._server.settings(self._scenario.database, self._generator.arrivals.clients)
        self._server.start(settings, self._lab.folder / "server.log")
        self._server.precondition_log(settings, self._lab.folder / "server.log")

    def _start_disk(self, name: str, image: Path, array: DiskArraySpec, stack: ExitStack) -> EmulatedDisk:
        program = compiled_emulated_disk(self._lab.folder / "programs")
        place = MOUNTS / f"{name}.disk"
        disk = emulated_disk(program, image, place, array, full_speed=True, entered=self._groups[DISKS].entered)
        self._disks[name] = stack.enter_context(disk)
        return self._disks[name]

    def _end(self) -> None:
        """Before the disks end, what stands on them does, which waits until what is dirty is written: at full speed."""
        for disk in self._disks.values():
            disk.hurry()
        with suppress(InputError, OSError, TimeoutExpired):
            self._server.kill()
        for name in ("driver", "database"):
            self._groups[name].end()
        release(MOUNTS, but_disks=True)

    def lead_in(self, seed: int) -> None:
        """What comes before the warm-up."""
        interval = self._scenario.interval
        if interval.start == "after_prewarm":
            self._lab.report("reading the tables")
            self._server.prewarm(interval.prewarm.into if interval.prewarm else "pool")
        if interval.lead_in is not None:
            self._lab.report("lead-in")
            if interval.lead_in.speed == "clients":
                self._slow_down()
            words = self._generator.lead_in_words(interval.lead_in, seed)
            run(*self._groups["driver"].entered(words), give_up_s=LONGEST_LEAD_IN_S, called="the lead-in")
        self._slow_down()

    def _slow_down(self) -> None:
        for disk in self._disks.values():
            disk.take_its_time()

    def measure(self, folder: Path, name: str, library: str | None, seed: int, shown: TextIO | None) -> None:
        """The warm-up and what is counted."""
        interval = self._scenario.interval
        assert interval.duration_s is not None
        self._lab.report(f"measuring {interval.warm_up_s:g} + {interval.duration_s:g} s")
        speeds = [self._core_speed()]
        command = self._groups["driver"].entered(self._generator.run_words(seed))
        began_s, cpu_s = time.monotonic(), self._cpu_s()
        before = {disk: one.counters() for disk, one in self._disks.items()}
        known = KnownServer(self._server.first_process, self._server.folders)
        result = measure(folder, command, None, 1.0, interval.warm_up_s, KINDS[self._machine.engine], shown, known)
        took_s, cpu_after_s = time.monotonic() - began_s, self._cpu_s()
        after = {disk: one.counters() for disk, one in self._disks.items()}
        if result.interrupted:
            raise KeyboardInterrupt
        if result.status:
            raise InputError(
                f"lab: {name}: the load generator ended with status {result.status}; {folder} holds its output"
            )
        memory = self._groups["database"].memory()
        speeds.append(self._core_speed())
        document: dict[str, Any] = {
            "format": FORMAT,
            "name": name,
            "library": library,
            "seed": seed,
            "kernel": os.uname().release,
            "core_speeds_per_s": speeds,
            "shared_core_speed_per_s": self._shared_core_speed(),
            "cores_busy": {each: (used_s - cpu_s[each]) / took_s for each, used_s in cpu_after_s.items()},
            "memory_mib": {each: memory[each] / MIB for each in MEMORY if each in memory},
            "disks": {disk: {"before": before[disk]._asdict(), "after": after[disk]._asdict()} for disk in self._disks},
            "scenario": self._scenario.model_dump(mode="json", exclude_none=True),
        }
        write_whole(folder / DOCUMENT, json.dumps(document, indent=1) + "\n")

    def _core_speed(self) -> float:
        """What one more thread of the database's could compute: hosts differ, and one hour from the next."""
        words = self._groups["database"].entered(core_speed_words())
        return core_speed_of(run(*words, called="the measurement of a core"))

    def _shared_core_speed(self) -> float:
        """The same while the load generator's cores compute: less where they are threads of the database's cores."""
        words = self._groups["driver"].entered(core_speed_words(len(self._machine.others.cores), 2 * CORE_SPEED_S))
        others = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603 - own words
        try:
            speed = self._core_speed()
            if others.poll() is not None:
                raise InputError(f"lab: sysbench cpu ended with status {others.returncode} beside the database's core")
            return speed
        finally:
            others.kill()
            others.wait()

    def _cpu_s(self) -> dict[str, float]:
        return {name: group.cpu_s() for name, group in self._groups.items()}


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Variables by which clients find the laboratory's server, and no other's, while a block runs."""
    before = dict(os.environ)
    for name in [name for name in before if name.startswith(OF_CLIENTS)]:
        del os.environ[name]
    os.environ.update(variables, HOME=str(STATE))  # where no option file of another server lies
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
