"""What clients do between two waits: the operations of a program, whose meaning is defined here.

CPU demand is collected on the way and is paid, as one burst, before any other wait. Operations and their operands have
the names of simulator/form/program.py.
"""

from typing import Any

from oltpsim.simulator.errors import InternalError
from oltpsim.simulator.form import DISTRIBUTION_KINDS, OPERATIONS, WITH_INDEX_PAGE, System
from oltpsim.simulator.reference import waits
from oltpsim.simulator.reference.buffer_pool import BufferPool
from oltpsim.simulator.reference.client import Client
from oltpsim.simulator.reference.locks import RowLocks
from oltpsim.simulator.reference.regions import References
from oltpsim.simulator.reference.stations import Environment
from oltpsim.simulator.reference.streams import AliasTable, streams_of
from oltpsim.simulator.reference.waits import Wait, Waits

Operation = tuple[Any, ...]
"""its name, then its operands"""


class Interpreter:
    """A program at work: its clients, its counters, what its references remember."""

    def __init__(self, env: Environment, system: System, seed: int, pool: BufferPool, locks: RowLocks) -> None:
        program = system.program
        self.env, self.pool, self.locks = env, pool, locks
        self.logs_at_once = system.log.at_once
        alias, names = program.alias.tolist(), tuple(OPERATIONS)
        self.tables: list[AliasTable] = [alias[start : start + length] for start, length in program.tables.tolist()]
        self.distributions = [(DISTRIBUTION_KINDS[kind], a, b) for kind, a, b in program.distributions.tolist()]
        self.entries: list[int] = program.entries.tolist()
        self.first_lock: list[int] = program.lock_tables[:, 0].tolist()
        self.first_counter: list[int] = program.counter_tables[:, 0].tolist()
        self.counters: list[int] = program.counters.tolist()
        self.references = References(program, self.tables)
        self.operations: list[Operation] = [
            (names[code], *operands[: len(OPERATIONS[names[code]])]) for code, *operands in program.operations.tolist()
        ]
        registers = system.client_registers.tolist()
        purposes = [streams_of(seed, purpose, len(registers)) for purpose in program.streams]
        self.clients = [
            Client(number, row, [streams[number] for streams in purposes]) for number, row in enumerate(registers)
        ]

    def waits_of(self, client: Client) -> Waits:
        """Run a client's operations from the next one on, for ever: what it has to wait for, one after the other."""
        while True:
            operation = self.operations[client.next_operation]
            client.next_operation += 1
            if not self._computes(client, operation) and not self._jumps(client, operation):
                yield from self._waits(client, operation)

    def _place(self, client: Client, counter: int, group_register: int) -> int:
        """Where a group of a counter is among all counters."""
        return self.first_counter[counter] + client.registers[group_register]

    def _draw_ns(self, client: Client, distribution: int, purpose: int) -> int:
        return client.streams[purpose].time_ns(*self.distributions[distribution])

    def _computes(self, client: Client, operation: Operation) -> bool:  # noqa: C901, PLR0912 - a case per operation
        """The operations that change registers, counters, CPU demand or log; False for any other."""
        registers, streams, counters = client.registers, client.streams, self.counters
        match operation:
            case "set", r, value:
                registers[r] = value
            case "uniform", r, bound, add, s:
                registers[r] = add + streams[s].below(bound)
            case "sample", r, table, add, s:
                registers[r] = add + streams[s].alias(self.tables[table])
            case "other", r, bound, r_not, s:
                drawn = streams[s].below(bound - 1) if bound > 1 else 0
                registers[r] = drawn + (bound > 1 and drawn >= registers[r_not])
            case "combine", r, r_high, factor, r_low:
                registers[r] = registers[r_high] * factor + registers[r_low]
            case "affine", r, r_from, factor, add, modulus:
                value = registers[r_from] * factor + add
                registers[r] = value % modulus if modulus > 0 else value
            case "take", r, counter, r_group, amount:
                place = self._place(client, counter, r_group)
                registers[r] = counters[place]
                counters[place] += amount
            case "peek", r, counter, r_group, back:
                registers[r] = max(0, counters[self._place(client, counter, r_group)] - back)
            case "put", counter, r_group, r:
                counters[self._place(client, counter, r_group)] = registers[r]
            case "note", counter, r_group:
                counters[self._place(client, counter, r_group)] = self.env.now
            case "cpu", user_ns, system_ns, client_ns:
                client.user_ns += user_ns
                client.system_ns += system_ns
                client.client_ns += client_ns
            case "work", distribution, s:
                client.user_ns += self._draw_ns(client, distribution, s)
            case "log", size_bytes if not self.logs_at_once:
                client.log_bytes += size_bytes
            case _:
                return False
        return True

    def _jumps(self, client: Client, operation: Operation) -> bool:
        """The operations that may go on elsewhere; False for any other."""
        registers, streams, counters = client.registers, client.streams, self.counters
        match operation:
            case "jump", target:
                jumps = True
            case "maybe", cut, s, target:
                jumps = streams[s].chance(cut)
            case "loop", r, target:
                registers[r] -= 1
                jumps = registers[r] > 0
            case "claim", r, counter, r_group, limit, target:
                place = self._place(client, counter, r_group)
                jumps = counters[place] >= counters[self._place(client, limit, r_group)]
                if not jumps:
                    registers[r] = counters[place]
                    counters[place] += 1
            case "if_between", counter, until, r_group, target:
                begin, end = (counters[self._place(client, one, r_group)] for one in (counter, until))
                jumps = begin <= self.env.now < end
            case "if_equal", counter, r_group, r, target:
                jumps = counters[self._place(client, counter, r_group)] == registers[r]
            case "choose", table, s:
                client.transaction_class = streams[s].alias(self.tables[table])
                jumps, target = True, self.entries[client.transaction_class]
            case ("enter",):
                jumps, target = True, self.entries[client.transaction_class]
            case _:
                return False
        if jumps:
            client.next_operation = target
        return True

    def _waits(self, client: Client, operation: Operation) -> Waits:
        """The operations that take time: those on pages and rows maybe, the others always, CPU demand being paid."""
        match operation:
            case ("touch" | "put_aside") as name, reference, write, user_ns:
                client.user_ns += user_ns
                yield from self._touch(client, reference, write, name == "put_aside")
            case "lock", lock, r:
                yield from self._lock(client, self.first_lock[lock] + client.registers[r])
            case _:
                yield from client.pay()
                yield self._last_wait(client, operation)

    def _touch(self, client: Client, number: int, write: int, put_aside: bool) -> Waits:
        """Refer to a page, if it is here or not to be put aside, and before that to the index page above it."""
        reference = self.references.references[number]
        wanted, region = self.references.find(client, reference), reference.region
        if wanted is None:
            return
        if region.index is not None:
            above = region.index.base + (wanted.page - region.base) // region.fanout
            yield from self.pool.refer(client, above, region.index, write == WITH_INDEX_PAGE)
        yield from self.pool.refer(client, wanted.page, region, write != 0, wanted.created, put_aside)

    def _lock(self, client: Client, lock: int) -> Waits:
        """Lock a row to the end of the transaction; a client that holds it already has it."""
        while (owner := self.locks.owners.get(lock)) is not client:
            if client.owes_cpu:
                yield from client.pay()
            elif owner is None:
                self.locks.grant(lock, client)
            else:
                yield waits.RowLock(lock)

    def _last_wait(self, client: Client, operation: Operation) -> Wait:  # noqa: C901 - a case per operation
        """What an operation waits for that has nothing else to do."""
        registers, counters = client.registers, self.counters
        match operation:
            case "think", distribution, s:
                return waits.Thinking(self._draw_ns(client, distribution, s))
            case ("arrive",):
                return waits.NextArrival()
            case "visit", station, distribution, s:
                return waits.StationVisit(station, self._draw_ns(client, distribution, s))
            case "visit_one", station, r, distribution, s:
                return waits.StationVisit(station + registers[r], self._draw_ns(client, distribution, s))
            case "gate", station, counter, r_group, distribution, s:
                gate = self.first_counter[counter] + 3 * registers[r_group]
                return waits.StationVisit(station, self._closed_ns(client, gate, distribution, s))
            case "section", section, hold_ns:
                return waits.SectionStay(section, hold_ns)
            case "network", delay_ns:
                return waits.NetworkDelay(delay_ns)
            case "sleep_until", counter, r_group:
                return waits.NetworkDelay(max(counters[self._place(client, counter, r_group)] - self.env.now, 0))
            case "log", size_bytes:
                client.log_bytes += size_bytes
                return waits.LogHandover(size_bytes)
            case ("commit" | "flush" as name,):
                size_bytes, client.log_bytes = client.log_bytes, 0
                return waits.Commit(size_bytes, keeps_locks=name == "flush")
            case ("rollback",):
                client.log_bytes, client.rolled_back = 0, True
                return waits.Rollback()
            case ("end",):
                rolled_back, client.rolled_back, client.next_operation = client.rolled_back, False, 0
                return waits.TransactionEnd(client.transaction_class, rolled_back)
        raise InternalError(f"unknown operation {operation}")

    def _closed_ns(self, client: Client, gate: int, distribution: int, purpose: int) -> int:
        """For how long a gate is closed to a client; if its was the last passage, it closes for a drawn time."""
        counters, now = self.counters, self.env.now
        passages_left, closed_until, passages_between = gate, gate + 1, gate + 2
        counters[passages_left] -= 1
        if counters[passages_left] <= 0:
            counters[passages_left] = counters[passages_between]
            counters[closed_until] = max(now, counters[closed_until]) + self._draw_ns(client, distribution, purpose)
        return max(counters[closed_until] - now, 0)
