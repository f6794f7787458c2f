"""Terminals: many users who type, send, wait and think, before few connections that do their work."""

from oltpsim.simulator.form import System, Terminals
from oltpsim.simulator.reference.arrivals import Arrival, ArrivalQueue
from oltpsim.simulator.reference.client import Client
from oltpsim.simulator.reference.stations import Environment
from oltpsim.simulator.reference.streams import streams_of
from oltpsim.simulator.results import Population


class TerminalUsers:
    """The users: what they send next, and how long they think and type. A stream for each."""

    def __init__(self, system: System, rules: Terminals, seed: int) -> None:
        self.rules = rules
        self.streams = streams_of(seed, "terminals", rules.count)
        start, length = system.program.tables[rules.mix].tolist()
        self.mix: list[list[int]] = system.program.alias[start : start + length].tolist()
        self.next_class = [0] * rules.count
        self.longest_ns = max(rules.keying_ns) + rules.longest_think * max(rules.thinking_ns)

    def next_arrival_ns(self, number: int, ended: int) -> int:
        """From the answer to a transaction of class `ended` to the next one's arrival at the queue."""
        stream, rules = self.streams[number], self.rules
        mean_ns = rules.thinking_ns[ended]
        thinking_ns = min(stream.exponential_ns(mean_ns), rules.longest_think * mean_ns) if mean_ns > 0 else 0
        self.next_class[number] = stream.alias(self.mix)
        return thinking_ns + rules.keying_ns[self.next_class[number]] + rules.middle_tier_ns

    def first_arrival_ns(self, number: int) -> int:
        """From time 0, amid thinking and keying: long ones are met as often as they are long; some of it is over."""
        stream, tier_ns = self.streams[number], self.rules.middle_tier_ns
        while True:
            away_ns = self.next_arrival_ns(number, ended=stream.alias(self.mix)) - tier_ns
            if self.longest_ns == 0:
                return tier_ns
            left_ns = int(stream.fraction() * self.longest_ns)
            if left_ns < away_ns:  # evenly within it
                return left_ns + tier_ns

    def seat(self, client: Client, number: int, transaction_class: int) -> None:
        """A connection takes up a transaction: its class, and the registers of its terminal's home."""
        client.transaction_class = transaction_class
        home = number % self.rules.homes
        for register, factor, divisor in self.rules.registers:
            client.registers[register] = home * factor // divisor


class TerminalQueue(ArrivalQueue):
    """First come first served. A transaction has begun when its terminal sent it, the middle tier's time before.

    `away`: terminals whose users think or type. `deferred_inside`: transactions that nobody waits for.
    """

    def __init__(self, env: Environment, in_system: Population, users: TerminalUsers) -> None:
        super().__init__(env, in_system)
        self.users = users
        self.tier_ns, self.deferred_class = users.rules.middle_tier_ns, users.rules.deferred_class
        self.away, self.deferred_inside = users.rules.count, 0
        self.terminal_of: dict[Client, int] = {}
        for number in range(users.rules.count):
            self._send_after(users.first_arrival_ns(number), number)

    def _send_after(self, delay_ns: int, number: int) -> None:
        self.env.timeout(delay_ns).callbacks.append(lambda _: self._send(number))

    def _send(self, number: int) -> None:
        """A terminal's transaction joins the queue; of a deferred one the terminal has its answer already."""
        began, transaction_class = self.env.now - self.tier_ns, self.users.next_class[number]
        self.in_system.enter(began)
        self.away -= 1
        self.join(Arrival(began, number, transaction_class))
        if transaction_class == self.deferred_class:
            self.deferred_inside += 1
            self._answer(number, transaction_class)

    def _answer(self, number: int, transaction_class: int) -> None:
        """A terminal has its answer: its user thinks, and types the next transaction."""
        self.away += 1
        self._send_after(self.users.next_arrival_ns(number, transaction_class), number)

    def seat(self, client: Client, arrival: Arrival) -> None:
        """A client takes up a transaction."""
        self.terminal_of[client] = arrival.terminal
        self.users.seat(client, arrival.terminal, arrival.transaction_class)

    def end(self, client: Client) -> None:
        """A client's transaction has ended; its terminal has been waiting for that, if it was not deferred."""
        if client.transaction_class == self.deferred_class:
            self.deferred_inside -= 1
        else:
            self._answer(self.terminal_of[client], client.transaction_class)
