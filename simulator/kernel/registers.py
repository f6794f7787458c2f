"""The operations that only change registers, counters and the program counter: drawing, arithmetic, jumps."""

from simulator.form import CODES
from simulator.kernel.compiled import compiled_inside
from simulator.kernel.state import CLASS, COUNTER_TABLES, DISTRIBUTIONS, ENTRIES, PLACES, REGISTERS, SAMPLERS, State
from simulator.kernel.streams import chance, draw_alias, draw_time_ns, uniform_below

_CHOOSE, _MAYBE, _JUMP, _LOOP, _CLAIM = CODES["choose"], CODES["maybe"], CODES["jump"], CODES["loop"], CODES["claim"]
_UNIFORM, _SAMPLE, _OTHER, _SET = CODES["uniform"], CODES["sample"], CODES["other"], CODES["set"]
_ENTER = CODES["enter"]
_COMBINE, _AFFINE, _TAKE, _PEEK = CODES["combine"], CODES["affine"], CODES["take"], CODES["peek"]
_PUT, _NOTE, _IF_BETWEEN, _IF_EQUAL = CODES["put"], CODES["note"], CODES["if_between"], CODES["if_equal"]


@compiled_inside
def sample(state: State, client: int, table: int, purpose: int) -> int:
    """A draw from alias table `table` by the client's stream of this purpose."""
    row = state.tables[state.tables[0, SAMPLERS] + table]
    return draw_alias(state.streams[client], purpose, state.alias, row[0], row[1])


@compiled_inside
def draw_ns(state: State, client: int, distribution: int, purpose: int) -> int:
    """A time from a distribution by the client's stream of this purpose."""
    row = state.tables[state.tables[PLACES, DISTRIBUTIONS] + distribution]
    return draw_time_ns(state.streams[client], purpose, row[0], row[1], row[2])


@compiled_inside
def place_of(state: State, counter: int, group: int) -> int:
    """Where a group of a counter is in the state's array of counters."""
    return state.tables[state.tables[0, COUNTER_TABLES] + counter, 0] + group


@compiled_inside
def compute(state: State, client: int, op: int, a: int, b: int, c: int, d: int, e: int) -> bool:
    """The operations that only change registers and counters; False for any other."""
    registers, streams = state.client[client, REGISTERS:], state.streams[client]
    if op == _SET:
        registers[a] = b
    elif op == _UNIFORM:
        registers[a] = c + uniform_below(streams, d, b)
    elif op == _SAMPLE:
        registers[a] = c + sample(state, client, b, d)
    elif op == _OTHER:
        drawn = uniform_below(streams, d, b - 1) if b > 1 else 0
        registers[a] = drawn + 1 if b > 1 and drawn >= registers[c] else drawn
    elif op == _COMBINE:
        registers[a] = registers[b] * c + registers[d]
    elif op == _AFFINE:
        value = registers[b] * c + d
        registers[a] = value % e if e > 0 else value
    elif op == _TAKE:
        counter = place_of(state, b, registers[c])
        registers[a] = state.counters[counter]
        state.counters[counter] += d
    elif op == _PEEK:
        registers[a] = max(0, state.counters[place_of(state, b, registers[c])] - d)
    elif op == _PUT:
        state.counters[place_of(state, a, registers[b])] = registers[c]
    else:
        return False
    return True


@compiled_inside
def next_operation(  # noqa: PLR0913, PLR0917 - operands come as scalars from the loop
    state: State, client: int, pc: int, op: int, a: int, b: int, c: int, d: int, e: int, now: int
) -> int:
    """The operation that follows one of control, or one that looks at the clock; -1 for any other kind."""
    registers = state.client[client, REGISTERS:]
    if op == _MAYBE:
        return c if chance(state.streams[client], b, a) else pc + 1
    if op == _JUMP:
        return a
    if op == _LOOP:
        registers[a] -= 1
        return b if registers[a] > 0 else pc + 1
    if op == _CLAIM:
        counter = place_of(state, b, registers[c])
        if state.counters[counter] >= state.counters[place_of(state, d, registers[c])]:
            return e
        registers[a] = state.counters[counter]
        state.counters[counter] += 1
        return pc + 1
    if op == _ENTER:
        return state.tables[state.tables[0, ENTRIES] + state.client[client, CLASS], 0]
    if op == _CHOOSE:
        chosen = sample(state, client, a, b)
        state.client[client, CLASS] = chosen
        return state.tables[state.tables[0, ENTRIES] + chosen, 0]
    if op == _IF_BETWEEN:
        begun = state.counters[place_of(state, a, registers[c])] <= now
        return d if begun and now < state.counters[place_of(state, b, registers[c])] else pc + 1
    if op == _IF_EQUAL:
        return d if state.counters[place_of(state, a, registers[b])] == registers[c] else pc + 1
    if op == _NOTE:
        state.counters[place_of(state, a, registers[b])] = now
        return pc + 1
    return -1
