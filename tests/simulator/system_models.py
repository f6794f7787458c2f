"""From a `System` (systems.py) to a model: its steps become operations."""

import numpy as np

from oltpsim.models.wiring import by_table
from oltpsim.simulator.form import Assembler, Cpu, Interrupts, Program, Section, Station, Storage, System, Terminals
from tests.simulator.systems import DrawnSystem, Step

LOCKS = ("lock 1", "lock 2")
MS = 1_000_000
INTERRUPTS = "interrupts"


def model_of_system(system: DrawnSystem) -> System:
    """The model. A log device of its own is the last of at least two devices."""
    program = Writer(system).write()
    registers = np.zeros((system.clients, len(program.registers)), dtype=np.int64)
    registers[:, program.registers.index("home")] = np.arange(system.clients) % system.groups
    count = len(system.devices)
    own_log = system.own_log and count > 1
    return System(
        name="random",
        program=program,
        client_registers=registers,
        arrivals_per_s=system.arrivals_per_s,
        cpu=Cpu(system.cores),
        sections=tuple(Section(name, system.handover_ns) for name in program.sections),
        stations=tuple(Station(name, system.servers) for name in program.stations),
        pool=system.pool,
        page_cache=system.cache,
        storage=Storage(
            devices=system.devices,
            data_devices=count - 1 if own_log else count,
            log_device=count - 1 if own_log else 0,
            page_bytes=8192,
            data_start_bytes=1 << 24,
            log_start_bytes=0 if own_log else 1 << 23,
            log_bytes=1 << 18,
            swap_start_bytes=0,
            swap_cluster_pages=system.swap_cluster_pages,
            swap_request_bytes=system.swap_request_bytes,
            merged_pages=system.merged_pages,
            requests_per_device=system.requests_per_device,
        ),
        log=system.log,
        costs=system.costs,
        direct_io=system.direct_io,
        interval=system.interval,
        daemons=system.daemons,
        sharing=system.sharing,
        work=system.work,
        volume_limits=system.volume_limits,
        writing=system.writing,
        flushing=system.flushing,
        fair_queueing=system.fair_queueing,
        terminals=terminals_of(system, program),
        interrupts=Interrupts(0.0, program.stations.index(INTERRUPTS), system.interrupt_ns)
        if system.interrupt_ns
        else None,
        reclaim=system.reclaim,
        extents=by_table(program.regions, count - 1 if own_log else count, 8192) if system.by_table else None,
    )


def terminals_of(system: DrawnSystem, program: Program) -> Terminals | None:
    """The terminals, each class of which takes other times."""
    users, classes = system.users, range(len(system.classes))
    if users is None:
        return None
    return Terminals(
        count=users.count,
        homes=system.groups,
        registers=((program.registers.index("home"), 1, 1), (program.registers.index("age"), 5, 2)),
        mix=program.table_names.index("mix"),
        keying_ns=tuple(users.keying_ns * (1 + number) for number in classes),
        thinking_ns=tuple(users.thinking_ns * (1 + number) for number in classes),
        longest_think=users.longest_think,
        deferred_class=classes[-1] if users.deferred else -1,
        middle_tier_ns=users.middle_tier_ns,
    )


def interrupts_of(system: DrawnSystem, program: Program) -> Interrupts | None:
    """Interrupts that a station of its own serves."""
    if not system.interrupt_ns:
        return None
    return Interrupts(0.0, program.stations.index(INTERRUPTS), system.interrupt_ns)


class Writer:
    """Writes the program of a system: two tables, of which one grows; orders that are taken, claimed and peeked at."""

    def __init__(self, system: DrawnSystem) -> None:
        self.system, self.asm = system, Assembler()
        asm, groups = self.asm, system.groups
        self.home, self.group, self.row = asm.register("home"), asm.register("group"), asm.register("row")
        self.count, self.age = asm.register("count"), asm.register("age")
        self.rows, self.times = asm.stream("rows"), asm.stream("times")
        hot = asm.region("hot", groups, system.hot_pages, 1, fanout=system.fanout)
        grown = asm.region("grown", groups, system.grown_pages, system.rows_per_page, fanout=system.fanout)
        for group in range(groups):
            asm.loaded(hot, group, system.hot_pages)
            asm.loaded(grown, group, system.grown_pages // 2)
        loaded = system.grown_pages // 2
        self.orders = asm.counter("orders", groups, loaded * system.rows_per_page)
        self.delivered = asm.counter("delivered", groups, 0)
        window = asm.window(system.window, groups)
        popularity = asm.table("popularity", 1.0 / np.arange(1, system.hot_pages + 1))
        self.row_table = asm.table("rows", np.arange(1, 2 * system.hot_pages + 1))
        group, row = self.group, self.row
        popular = {"table": popularity, "stream": self.rows}
        self.references = {
            "popular": asm.reference("popular", "popular", hot, group, **popular),
            "remembered": asm.reference("remembered", "popular", hot, group, row=group, window=window, **popular),
            "row": asm.reference("row", "row", hot, group, row=row),
            "recent": asm.reference("recent", "recent", hot, group, row=group, window=window, stream=self.rows),
            "next row": asm.reference("next row", "append", grown, group, row=row, appended_pages=loaded),
            "grown row": asm.reference("grown row", "row", grown, group, row=row),
        }
        self.closed = asm.counter("closed", groups, 5 * MS)
        self.closed_until = asm.counter("closed until", groups, 400 * MS)
        self.noted, self.gates = asm.counter("noted", groups, 0), asm.counter("gates", 3 * groups, [2, 0, 3] * groups)
        if system.interrupt_ns:
            asm.station(INTERRUPTS)
        self.locks = {name: asm.lock(name, groups) for name in LOCKS}

    def write(self) -> Program:
        """All of it: the client's loop, then every class."""
        asm, system = self.asm, self.system
        mix = asm.table("mix", [weight for weight, _ in system.classes])
        if system.think is None:
            asm.emit("arrive")
        else:
            asm.emit("think", asm.distribution(*system.think), asm.stream("think"))
        if system.users is None:
            asm.emit("choose", mix, asm.stream("mix"))
        else:
            asm.emit("enter")
        for number, (_, story) in enumerate(system.classes):
            asm.begin_class(f"class {number}")
            asm.emit("uniform", self.group, system.groups, 0, self.rows)
            self.undone = asm.label()
            skipped = None
            for step in story:
                after, skipped = skipped, None
                if step[0] == "skip":
                    skipped = asm.label()
                    asm.emit("maybe", step[1], self.rows, skipped)
                else:
                    self.step(step)
                if after is not None:
                    asm.place(after)
            if skipped is not None:
                asm.place(skipped)
            asm.emit("commit")
            asm.emit("end")
            asm.place(self.undone)
            asm.emit("rollback")
            asm.emit("end")
        return asm.finish("class 0")

    def step(self, step: Step) -> None:
        """One step as operations."""
        asm, kind = self.asm, step[0]
        if kind in {"cpu", "log", "network"}:
            asm.emit(*step)
        elif kind == "work":
            asm.emit("work", asm.distribution(*step[1]), self.times)
        elif kind == "visit":
            asm.emit("visit", asm.station(step[1]), asm.distribution(*step[2]), self.times)
        elif kind == "section":
            asm.emit("section", asm.section(step[1]), step[2])
        elif kind == "lock":
            asm.emit("lock", self.locks[step[1]], self.home if step[1] == LOCKS[0] else self.group)
        elif kind == "other group":
            asm.emit("other", self.group, self.system.groups, self.home, self.rows)
        elif kind == "roll back":
            asm.emit("maybe", step[1], self.rows, self.undone)
        elif kind == "touch":
            self.touch(step[1], step[2], step[3])
        else:
            self.rare_step(step)

    def rare_step(self, step: Step) -> None:
        """What transactions of a database don't do."""
        asm, kind = self.asm, step[0]
        if kind == "visit one":
            first = asm.station("one of two, 1")
            asm.station("one of two, 2")
            asm.emit("uniform", self.count, 2, 0, self.rows)
            asm.emit("visit_one", first, self.count, asm.distribution(*step[1]), self.times)
        elif kind == "gate":
            asm.emit("gate", asm.station("gate"), self.gates, self.group, asm.distribution(*step[1]), self.times)
        elif kind == "nap":
            asm.emit("note", self.noted, self.group)
            asm.emit("take", self.age, self.noted, self.group, step[1])
            asm.emit("sleep_until", self.noted, self.group)
        elif kind == "put aside":
            self.touch(step[1], step[2], step[3], "put_aside")
        elif kind == "flush":
            asm.emit("log", 300)
            asm.emit("flush")
        elif kind == "look at the clock":
            after = asm.label()
            asm.emit("if_between", self.closed, self.closed_until, self.group, after)
            asm.emit("cpu", MS, 0, 0)
            asm.place(after)
        elif kind == "compare":
            equal, after = asm.label(), asm.label()
            asm.emit("put", self.noted, self.group, self.home)
            asm.emit("if_equal", self.noted, self.home, self.group, equal)
            asm.emit("cpu", MS, 0, 0)
            asm.emit("jump", after)
            asm.place(equal)
            asm.emit("cpu", 0, 2 * MS, 0)
            asm.place(after)

    def touch(self, how: str, write: int, user_ns: int, operation: str = "touch") -> None:
        """A reference, with the row that it needs."""
        asm, row, group = self.asm, self.row, self.group
        if how == "row":
            asm.emit("sample", row, self.row_table, 0, self.rows)
        elif how == "next row":
            asm.emit("take", row, self.orders, group, 1)
        elif how == "remembered and recent":
            asm.emit("touch", self.references["remembered"], write, user_ns)
            how = "recent"
        elif how == "combined row":
            asm.emit("uniform", self.age, 3, 0, self.rows)
            asm.emit("combine", row, self.age, 7, self.group)
            how = "row"
        elif how == "last row":
            asm.emit("peek", row, self.orders, group, 1)
            how = "grown row"
        elif how == "claimed row":
            nothing = asm.label()
            asm.emit("claim", row, self.delivered, group, self.orders, nothing)
            asm.emit("touch", self.references["grown row"], write, user_ns)
            asm.place(nothing)
            return
        elif how == "scan":
            asm.emit("uniform", self.age, 5, 0, self.rows)
            asm.emit("affine", row, self.age, 7, 1, self.system.hot_pages)
            asm.emit("set", self.count, 3)
            again = asm.label()
            asm.place(again)
            asm.emit("touch", self.references["row"], write, user_ns)
            asm.emit("affine", row, row, 1, 1, 0)
            asm.emit("loop", self.count, again)
            return
        asm.emit(operation, self.references[how], write, user_ns)
