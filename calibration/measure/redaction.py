"""Passwords that a command line, an environment or a line of output holds, so that no file gets them.

A secret is what follows a name that ends as passwords' names do (`--db-password`, `pg_pass`, `"pwd"`, `MYSQL_PWD`),
what stands before the `@` of an address, and what `-p` carries for MySQL's programs.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

HIDDEN = "****"
NAME = (
    r"[\w.-]*(?:pass(?:w(?:or)?d|phrase|code)?|pwd|(?<![a-z])pw|secret|token|credentials?|(?<![a-z])auth"
    r"|(?:api|access|secret|private)[_-]?key)"
)
VALUE = r"""(?:"(?:[^"\\]|\\.)+"|'(?:[^'\\]|\\.)+'|\{[^}\s]+\}|[^\s"',;&{}]+)"""
ASSIGNED = re.compile(rf"""(?P<before>(?<![\w.-]){NAME}["']?\s*(?:=>|=|:)\s*)(?P<secret>{VALUE})""", re.IGNORECASE)
BEHIND_OPTION = re.compile(rf"""(?<![\w.])(?:-{{1,2}}|\w+_){NAME}["']?\s+(?P<secret>{VALUE})""", re.IGNORECASE)
"""as options and HammerDB's dictionary have it; `pass` alone is a word like others"""
QUOTED = re.compile(rf"""(?P<before>{NAME}\s+)(?P<secret>'(?:[^'\\]|\\.)+')""", re.IGNORECASE)
"""as SQL has it"""
NAMED_NEXT = re.compile(rf"-{{0,2}}{NAME}", re.IGNORECASE)
BEARER = re.compile(r"(?P<before>\b(?:bearer|basic)\s+)(?P<secret>[\w.~+/=-]{4,})", re.IGNORECASE)
IN_ADDRESS = re.compile(r"(?P<before>://[^:/@\s]*:)(?P<secret>[^/\s]+)(?=@)")
IN_LOGIN = re.compile(r"(?P<before>(?<![\w/.])[\w$#]+/)(?P<secret>[^@/\s]+)(?=@[\w/])")
"""as Oracle's programs have it: user/password@service"""
CHANGED = re.compile(rf"(?P<before>{NAME}\s+from\s+)(?P<secret>\S+\s+to\s+\S+)", re.IGNORECASE)
"""as HammerDB says that its dictionary has changed"""
SHORT = re.compile(r"-p(?P<secret>\S+)")
"""as MySQL's client has it; of pgbench it is a port"""
WITH_PASSWORD_NEXT = ("tpcc_load", "tpcc_start")
"""programs of tpcc-mysql, whose `-p` has the password as the next word"""
LOGIN = ("-u", "--user")
"""as curl has it: user:password"""
IN_TEXT = (ASSIGNED, QUOTED, BEARER, IN_ADDRESS, IN_LOGIN, CHANGED)
FOLDERS = ("PWD", "OLDPWD")
"""variables of a shell that end as a password's do"""
SHORTEST_NUMBER = 4
"""digits; a shorter number would hide figures all over an output, and is hidden behind its name alone"""


def secrets_in(words: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """Passwords in a command line or its environment, the longest first."""
    found = {_bare(each) for each in (*_of_environment(environment), *_of_words(words))}
    return sorted((each for each in found if _is_telling(each)), key=lambda each: (-len(each), each))


def _of_environment(environment: Mapping[str, str]) -> Iterator[str]:
    for name, value in environment.items():
        if name not in FOLDERS and NAMED_NEXT.fullmatch(name):
            yield value
        yield from (match["secret"] for match in IN_ADDRESS.finditer(value))


def _of_words(words: Sequence[str]) -> Iterator[str]:
    program = Path(words[0]).name if words else ""
    for word, following in zip(words, (*words[1:], ""), strict=True):
        for pattern in (ASSIGNED, BEHIND_OPTION, QUOTED, BEARER, IN_ADDRESS, IN_LOGIN):
            yield from (match["secret"] for match in pattern.finditer(word))
        if NAMED_NEXT.fullmatch(word) or (word == "-p" and program in WITH_PASSWORD_NEXT):
            yield following
        if word in LOGIN and ":" in following:
            yield following.partition(":")[2]
        for match in re.finditer(rf"(?:^|\s){SHORT.pattern}", word):
            if not match["secret"].isdigit():
                yield match["secret"]


def _bare(value: str) -> str:
    return value[1:-1] if value[:1] in {'"', "'", "{"} else value


def _is_telling(secret: str) -> bool:
    return bool(secret) and not (secret.isdigit() and len(secret) < SHORTEST_NUMBER)


class Redaction:
    """What takes passwords out of lines: those that are known, and what stands where one would."""

    def __init__(self, secrets: Sequence[str]) -> None:
        """`secrets`: the longest first."""
        known = "|".join(rf"(?:(?<!\w)|(?<=-p)){re.escape(each)}(?!\w)" for each in secrets)
        self._known = re.compile(known) if known else None

    def __call__(self, line: str) -> str:
        """The line with four stars for each password."""
        if self._known is not None:
            line = self._known.sub(HIDDEN, line)
        for pattern in IN_TEXT:
            line = pattern.sub(lambda match: match["before"] + HIDDEN, line)
        return line
