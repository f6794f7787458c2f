"""What clients do between two waits: one method for each operation of a program, under its name.

`operations_of` runs a client's operations and yields what it has to wait for. CPU demand is collected on the way and
is paid, as one burst, before any other wait. What the operations mean is in simulator/form/program.py.
"""

from collections.abc import Callable, Sequence

from simulator.form import DISTRIBUTION_KINDS, OPERATIONS, Model
from simulator.reference.buffer_pool import BufferPool
from simulator.reference.client import (
    Client,
    Commit,
    NetworkDelay,
    NextArrival,
    Rollback,
    RowLock,
    SectionStay,
    StationVisit,
    Thinking,
    TransactionEnd,
    Waits,
)
from simulator.reference.locks import RowLocks
from simulator.reference.regions import References
from simulator.reference.stations import Environment
from simulator.reference.streams import AliasTable, seed_streams


class Interpreter:
    """A program at work: its clients, its counters, what its references remember.

    An operation's method returns the waits that it leads to, or None if it never leads to any.
    """

    def __init__(self, env: Environment, model: Model, seed: int, pool: BufferPool, locks: RowLocks) -> None:
        program = model.program
        self.env, self.pool, self.locks = env, pool, locks
        alias = program.alias.tolist()
        self.tables: list[AliasTable] = [alias[start : start + length] for start, length in program.tables.tolist()]
        self.distributions = [(DISTRIBUTION_KINDS[kind], a, b) for kind, a, b in program.distributions.tolist()]
        self.entries: list[int] = program.entries.tolist()
        self.first_lock: list[int] = program.lock_tables[:, 0].tolist()
        self.first_counter: list[int] = program.counter_tables[:, 0].tolist()
        self.counters: list[int] = program.counters.tolist()
        self.references = References(program, self.tables)
        names = tuple(OPERATIONS)
        self.program: list[tuple[Callable[..., Waits | None], Sequence[int]]] = [
            (getattr(self, names[code]), operands[: len(OPERATIONS[names[code]])])
            for code, *operands in program.operations.tolist()
        ]
        registers = model.client_registers.tolist()
        purposes = [seed_streams(seed, purpose, len(registers)) for purpose in program.streams]
        self.clients = [
            Client(number, own, [streams[number] for streams in purposes]) for number, own in enumerate(registers)
        ]

    def operations_of(self, client: Client) -> Waits:
        """Run a client's operations from the next one on, for ever."""
        while True:
            operation, operands = self.program[client.next_operation]
            client.next_operation += 1
            waits = operation(client, *operands)
            if waits is not None:
                yield from waits

    def _place(self, counter: int, group: int) -> int:
        """Where a group of a counter is among all counters."""
        return self.first_counter[counter] + group

    def _draw_ns(self, client: Client, distribution: int, purpose: int) -> int:
        return client.streams[purpose].time_ns(*self.distributions[distribution])

    # A transaction begins and ends

    def think(self, client: Client, distribution: int, purpose: int) -> Waits:
        """Wait a drawn time before the next transaction."""
        yield from client.pay()
        yield Thinking(self._draw_ns(client, distribution, purpose))

    def arrive(self, client: Client) -> Waits:
        """Wait for the next arrival."""
        yield from client.pay()
        yield NextArrival()

    def choose(self, client: Client, table: int, purpose: int) -> None:
        """Draw a class and go to its entry."""
        client.transaction_class = client.streams[purpose].alias(self.tables[table])
        self.enter(client)

    def enter(self, client: Client) -> None:
        """Go to the entry of the client's class."""
        client.next_operation = self.entries[client.transaction_class]

    def end(self, client: Client) -> Waits:
        """The transaction is complete."""
        yield from client.pay()
        rolled_back, client.rolled_back, client.next_operation = client.rolled_back, False, 0
        yield TransactionEnd(client.transaction_class, rolled_back)

    # Registers and counters

    def set(self, client: Client, register: int, value: int) -> None:
        """Put a value into a register."""
        client.registers[register] = value

    def uniform(self, client: Client, register: int, bound: int, add: int, purpose: int) -> None:
        """Register = add + one of 0..bound-1."""
        client.registers[register] = add + client.streams[purpose].below(bound)

    def sample(self, client: Client, register: int, table: int, add: int, purpose: int) -> None:
        """Register = add + a draw from an alias table."""
        client.registers[register] = add + client.streams[purpose].alias(self.tables[table])

    def other(self, client: Client, register: int, bound: int, register_not: int, purpose: int) -> None:
        """Register = one of 0..bound-1 that is not in `register_not`; 0 if there is no other."""
        drawn = client.streams[purpose].below(bound - 1) if bound > 1 else 0
        skips = bound > 1 and drawn >= client.registers[register_not]
        client.registers[register] = drawn + 1 if skips else drawn

    def combine(self, client: Client, register: int, high: int, factor: int, low: int) -> None:
        """Register = high * factor + low."""
        client.registers[register] = client.registers[high] * factor + client.registers[low]

    def affine(self, client: Client, register: int, source: int, factor: int, add: int, modulus: int) -> None:
        """Register = (source * factor + add) mod modulus; 0: no mod."""
        value = client.registers[source] * factor + add
        client.registers[register] = value % modulus if modulus > 0 else value

    def take(self, client: Client, register: int, counter: int, group: int, amount: int) -> None:
        """Register = counter, which grows."""
        place = self._place(counter, client.registers[group])
        client.registers[register] = self.counters[place]
        self.counters[place] += amount

    def claim(self, client: Client, register: int, counter: int, group: int, limit: int, target: int) -> None:
        """As `take` of one if that is below another counter, else jump."""
        claimed, most = (self.counters[self._place(one, client.registers[group])] for one in (counter, limit))
        if claimed >= most:
            client.next_operation = target
        else:
            self.take(client, register, counter, group, 1)

    def peek(self, client: Client, register: int, counter: int, group: int, back: int) -> None:
        """Register = counter less `back`, at least 0."""
        client.registers[register] = max(0, self.counters[self._place(counter, client.registers[group])] - back)

    def put(self, client: Client, counter: int, group: int, register: int) -> None:
        """Put a register into a counter."""
        self.counters[self._place(counter, client.registers[group])] = client.registers[register]

    def note(self, client: Client, counter: int, group: int) -> None:
        """Counter = the present instant."""
        self.counters[self._place(counter, client.registers[group])] = self.env.now

    # Jumps

    def jump(self, client: Client, target: int) -> None:
        """Always jump."""
        client.next_operation = target

    def maybe(self, client: Client, cut: int, purpose: int, target: int) -> None:
        """Jump with a probability."""
        if client.streams[purpose].chance(cut):
            client.next_operation = target

    def loop(self, client: Client, register: int, target: int) -> None:
        """One less; jump while there are some left."""
        client.registers[register] -= 1
        if client.registers[register] > 0:
            client.next_operation = target

    def if_between(self, client: Client, counter: int, until: int, group: int, target: int) -> None:
        """Jump if now is between the instants in two counters."""
        begins, ends = (self.counters[self._place(one, client.registers[group])] for one in (counter, until))
        if begins <= self.env.now < ends:
            client.next_operation = target

    def if_equal(self, client: Client, counter: int, group: int, register: int, target: int) -> None:
        """Jump if a counter has a register's value."""
        if self.counters[self._place(counter, client.registers[group])] == client.registers[register]:
            client.next_operation = target

    # CPU demand, which is collected

    def cpu(self, client: Client, user_ns: int, system_ns: int, client_ns: int) -> None:
        """CPU demand of all kinds."""
        client.user_ns += user_ns
        client.system_ns += system_ns
        client.client_ns += client_ns

    def work(self, client: Client, distribution: int, purpose: int) -> None:
        """CPU demand in user mode of a drawn length."""
        client.user_ns += self._draw_ns(client, distribution, purpose)

    # What may have to wait

    def touch(self, client: Client, reference: int, write: int, user_ns: int) -> Waits:
        """Refer to a page, and before that to the index page above it, which is read."""
        client.user_ns += user_ns
        wanted = self.references.find(client, self.references.references[reference])
        if wanted is None:
            return
        region = self.references.references[reference].region
        if region.index is not None:
            above = region.index.base + (wanted.page - region.base) // region.fanout
            yield from self.pool.refer(client, above, region.index, write=False)
        yield from self.pool.refer(client, wanted.page, region, bool(write), wanted.created)

    def lock(self, client: Client, table: int, register: int) -> Waits:
        """Lock a row to the end of the transaction; a client that holds it already has it."""
        lock = self.first_lock[table] + client.registers[register]
        while (owner := self.locks.owners.get(lock)) is not client:
            if client.owes_cpu:
                yield from client.pay()
            elif owner is None:
                self.locks.own(lock, client)
            else:
                yield RowLock(lock)

    def section(self, client: Client, section: int, hold_ns: int) -> Waits:
        """A critical section."""
        yield from client.pay()
        yield SectionStay(section, hold_ns)

    def visit(self, client: Client, station: int, distribution: int, purpose: int) -> Waits:
        """Queue at a station and be served for a drawn time."""
        yield from client.pay()
        yield StationVisit(station, self._draw_ns(client, distribution, purpose))

    def visit_one(self, client: Client, first: int, register: int, distribution: int, purpose: int) -> Waits:
        """As `visit`, at the station that is so many behind the first."""
        yield from client.pay()
        yield StationVisit(first + client.registers[register], self._draw_ns(client, distribution, purpose))

    def gate(self, client: Client, station: int, counter: int, group: int, distribution: int, purpose: int) -> Waits:
        """Pass a gate, whose last passage closes it for a drawn time; wait at the station until it is open."""
        yield from client.pay()
        passages_left = self._place(counter, 3 * client.registers[group])
        closed_until, passages_between = passages_left + 1, passages_left + 2
        counters, now = self.counters, self.env.now
        counters[passages_left] -= 1
        if counters[passages_left] <= 0:
            counters[passages_left] = counters[passages_between]
            closed_ns = self._draw_ns(client, distribution, purpose)
            counters[closed_until] = max(now, counters[closed_until]) + closed_ns
        yield StationVisit(station, max(counters[closed_until] - now, 0))

    def network(self, client: Client, delay_ns: int) -> Waits:
        """A delay that occupies nobody."""
        yield from client.pay()
        yield NetworkDelay(delay_ns)

    def sleep_until(self, client: Client, counter: int, group: int) -> Waits:
        """Wait until the instant in a counter, if it is to come."""
        yield from client.pay()
        instant = self.counters[self._place(counter, client.registers[group])]
        yield NetworkDelay(max(instant - self.env.now, 0))

    # The log

    def log(self, client: Client, size_bytes: int) -> None:
        """More for the transaction's log."""
        client.log_bytes += size_bytes

    def commit(self, client: Client) -> Waits:
        """Write the log and release the locks."""
        yield from self._write_log(client, keeps_locks=False)

    def flush(self, client: Client) -> Waits:
        """Write the log and keep the locks."""
        yield from self._write_log(client, keeps_locks=True)

    def _write_log(self, client: Client, keeps_locks: bool) -> Waits:
        yield from client.pay()
        size_bytes, client.log_bytes = client.log_bytes, 0
        yield Commit(size_bytes, keeps_locks)

    def rollback(self, client: Client) -> Waits:
        """Release the locks; nothing is logged."""
        yield from client.pay()
        client.log_bytes, client.rolled_back = 0, True
        yield Rollback()
