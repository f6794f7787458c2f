"""Records as words of eight bytes, and back, by the layout that a compiled library has of them (.ci/schema.py)."""

import ctypes
import json
import struct
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, get_args, get_type_hints

import numpy as np

from oltpsim.simulator.errors import InstallationError, InternalError
from oltpsim.simulator.form import IntArray, StructuredArray

Record = TypeVar("Record")
WORD_BYTES = 8
PLAIN: dict[str, Callable[[int], Any]] = {
    "i64": int,
    "flag": bool,
    "f64": lambda word: struct.unpack("d", struct.pack("q", word))[0],
    "maybe": lambda word: None if word < 0 else word,
}
"""value of a word, by form"""


class Address(int):
    """Word that points to a block, which has a number."""

    block: int


class WordLayout:
    """Layout of records: members and words by record, names by enumeration.

    `given`: modules of the records that the library gives back; those that it takes are form's.
    """

    def __init__(self, text: bytes) -> None:
        layout = json.loads(text)
        self.digest: str = layout["digest"]
        self.records: dict[str, list[tuple[str, Any]]] = layout["records"]
        self.words: dict[str, int] = layout["words"]
        self.enums: dict[str, list[str]] = layout["enums"]
        self.kinds: dict[str, list[str]] = layout["kinds"]
        self.given: list[str] = layout["given"]


class Packed:
    """Record as blocks of words that point to each other, the record itself last: they live as long as this does.

    Arrays are copied: who has made them may change them meanwhile. Raises InstallationError for a record with other
    fields than the library's.
    """

    def __init__(self, layout: WordLayout, record: Any) -> None:
        self.layout = layout
        self.blocks: list[IntArray] = []
        self.pointers: list[tuple[int, int, int]] = []
        """(block, word, block pointed to) of each word that points to a block"""
        self.words = len(words := self._record(type(record).__name__, record))
        self.address = self._block(words)

    def text(self) -> str:
        """The record for another process, as lines of numbers.

        The layout's digest; its number of words; all blocks end to end, the record last, with places in place of
        pointers; where those are.
        """
        starts = np.cumsum([0, *(block.size for block in self.blocks)]).tolist()
        words = np.concatenate([block.ravel() for block in self.blocks]).tolist()
        for block, word, target in self.pointers:
            words[starts[block] + word] = starts[target]
        pointers = [starts[block] + word for block, word, _ in self.pointers]
        lines = [[self.layout.digest], [self.words], words, pointers]
        return "".join(" ".join(map(str, line)) + "\n" for line in lines)

    def _record(self, name: str, record: Any) -> list[int]:
        members = self.layout.records[name]
        if is_dataclass(record):
            missing = {field.name for field in fields(record)} - {member for member, _ in members}
            if missing:
                raise InstallationError(f"the compiled library lacks {name}.{min(missing)}; `make demo` compiles it")
        words: list[int] = []
        if isinstance(record, tuple):
            for (_, kind), value in zip(members, record, strict=True):
                words += self._words(kind, value)
            return words
        for member, kind in members:
            if kind[0] == "kind":
                words.append(self.layout.kinds[kind[1]].index(type(record).__name__))
            elif kind[0] != "none":
                words += self._words(kind, getattr(record, member))
        return words

    def _words(self, kind: Any, value: Any) -> list[int]:
        form, of, _ = kind
        if form == "enum":
            return [self.layout.enums[of].index(value) if isinstance(value, str) else int(value)]
        if form == "f64":
            return list(struct.unpack("q", struct.pack("d", value)))
        if form == "range":
            return [value.start, value.stop]
        if form == "record":
            return self._record(of, value)
        if value is None:
            return {"maybe": [-1], "optional": [0], "rows": [0, 0]}[form]
        if form in ("optional", "pointer"):
            return [self._block(self._record(type(value).__name__, value))]
        if form in ("rows", "matrix"):
            return self._rows(of, value) if form == "rows" and isinstance(value, tuple) else self._array(kind, value)
        return [int(value)]

    def _rows(self, kind: Any, values: tuple[Any, ...]) -> list[int]:
        return [self._block([word for value in values for word in self._words(kind, value)]), len(values)]

    def _array(self, kind: Any, values: Any) -> list[int]:
        form, of, _ = kind
        numbers = np.array(values, dtype=np.float64 if of[0] == "f64" else np.int64, order="C").view(np.int64)
        width = numbers.shape[1] if numbers.ndim == 2 else 1
        if form == "rows":
            if width != (words := self.layout.words[of[1]]):
                raise InternalError(f"{of[1]}: got rows of {width} numbers, the kernel takes {words}")
            return [self._keep(numbers), len(numbers)]
        return [self._keep(numbers), len(numbers), width]

    def _block(self, words: list[int]) -> Address:
        for place, word in enumerate(words):
            if isinstance(word, Address):
                self.pointers.append((len(self.blocks), place, word.block))
        return self._keep(np.array(words, dtype=np.int64))

    def _keep(self, numbers: IntArray) -> Address:
        address = Address(numbers.ctypes.data)
        address.block = len(self.blocks)
        self.blocks.append(numbers)
        return address


def unpacked(layout: WordLayout, record: type[Record], address: int) -> Record:
    """The record at an address, copied."""
    return _record(layout, record, iter(_numbers(address, layout.words[record.__name__]).tolist()))


@cache
def _hints(record: Any) -> dict[str, Any]:
    return get_type_hints(record)


def _record(layout: WordLayout, record: Any, words: Iterator[int]) -> Any:
    hints = _hints(record)
    return record(**{name: _value(layout, kind, hints[name], words) for name, kind in layout.records[record.__name__]})


def _value(layout: WordLayout, kind: Any, hint: Any, words: Iterator[int]) -> Any:
    form, of, size = kind
    if form == "record":
        return _record(layout, hint, words)
    if form == "array":
        return {name: count for name in size if (count := next(words))}
    word = next(words)
    if form in PLAIN:
        return PLAIN[form](word)
    if form == "range":
        return range(word, next(words))
    if form == "enum":
        return layout.enums[of][word] if hint is str else word
    if form == "optional":
        return unpacked(layout, get_args(hint)[0], word) if word else None
    if form == "matrix":
        rows, width = next(words), next(words)
        matrix = _numbers(word, rows * width).reshape(rows, width)
        return matrix.view(np.float64) if of[0] == "f64" else matrix
    if form == "rows":
        rows, width = next(words), layout.words[of[1]]
        numbers = _numbers(word, rows * width)
        if hint == StructuredArray:
            return numbers.view([(name, np.int64, _shape(member)) for name, member in layout.records[of[1]]])
        if hint == IntArray:
            return numbers.reshape(rows, width)
        each = iter(numbers.tolist())
        return tuple(_record(layout, get_args(hint)[0], each) for _ in range(rows))
    raise InternalError(f"the kernel gave a member of the form {form}, which isn't read")


def _shape(kind: Any) -> tuple[int, ...]:
    form, _, size = kind
    return () if form != "array" else (size,) if isinstance(size, int) else (len(size),)


def _numbers(address: int, count: int) -> IntArray:
    return np.frombuffer(ctypes.string_at(address, count * WORD_BYTES), dtype=np.int64)
