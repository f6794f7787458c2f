"""Passwords that a command line, an environment or a line of output holds, so that no file gets them.

A secret is what follows a name that ends as passwords' names do (`--db-password`, `pg_pass`, `"pwd"`, `MYSQL_PWD`),
what stands before the `@` of an address, and what `-p` carries for MySQL's programs.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

HIDDEN = "****"
NAME = (
    r"[\w.-]*(?:pass(?:w(?:or)?d|phrase|code)?|pwd|(?<![a-z])pw|secret|token|credentials?|(?<![a-z])auth"
    r"|(?:api|access|secret|private)[_-]?key)"
)
VALUE = r"""(?:"(?:[^"\\]|\\.)+"|'(?:[^'\\]|\\.)+'|\{[^}\s]+\}|[^\s"',;&{}]+)"""
ASSIGNED = re.compile(rf"""(?P<before>(?<![\w.-]){NAME}["']?\s*(?:=>|=|:)\s*)(?P<secret>{VALUE})""", re.IGNORECASE)
BEHIND_OPTION = re.compile(rf"""(?P<before>(?<![\w.])-{{1,2}}{NAME}["']?\s+)(?P<secret>(?!-){VALUE})""", re.IGNORECASE)
BEHIND_NAME = re.compile(rf"""(?<![\w.])\w+_{NAME}["']?\s+(?P<secret>{VALUE})""", re.IGNORECASE)
"""as HammerDB's dictionary has it; `pass` alone is a word like others"""
WHOLE = re.compile(rf"-{{0,2}}{NAME}=(?P<secret>.+)", re.IGNORECASE | re.DOTALL)
"""a word that is nothing else: all behind the sign is the password, whatever it holds"""
QUOTED = re.compile(rf"""(?P<before>(?:{NAME}|identified\s+by)\s+)(?P<secret>'(?:[^'\\]|\\.)+')""", re.IGNORECASE)
"""as SQL has it"""
NAMED_NEXT = re.compile(rf"-{{0,2}}{NAME}", re.IGNORECASE)
BEARER = re.compile(r"(?P<before>\bauthorization\W+(?:bearer|basic)\s+)(?P<secret>[\w.~+/=-]{4,})", re.IGNORECASE)
IN_ADDRESS = re.compile(r"(?P<before>://[^:/@\s]*:)(?P<secret>[^/\s]+)(?=@)")
IN_LOGIN = re.compile(r"(?P<before>(?<![\w/.])[\w$#]+/)(?P<secret>[^@/\s]+)(?=@[\w/])")
"""as Oracle's programs have it: user/password@service"""
CHANGED = re.compile(rf"(?P<before>{NAME}\s+from\s+)(?P<secret>\S+\s+to\s+\S+)", re.IGNORECASE)
"""as HammerDB says that its dictionary has changed"""
SHORT = re.compile(r"(?P<before>(?:^|\s)-p)(?P<secret>[^\s=]+)(?=\s|$)")
MYSQL = re.compile(r"mysql|mariadb|tpcc_(?:load|start)")
"""programs whose `-p` has the password; of pgbench it is a port"""
WITH_PASSWORD_NEXT = ("tpcc_load", "tpcc_start")
"""programs of tpcc-mysql, whose `-p` has the password as the next word"""
LOGIN = ("-u", "--user")
"""as curl has it: user:password"""
IN_TEXT = (ASSIGNED, BEHIND_OPTION, QUOTED, BEARER, IN_ADDRESS, IN_LOGIN, CHANGED)
NUMBER = re.compile(r"[\d.,]+%?")
SURE_NAME = re.compile(r"(?:password|passwd|pwd)\W*$", re.IGNORECASE)
"""Name whose number is a password, too; `pass: 3` or `lock_token: 50` may well be figures."""
ADDRESSES = re.compile(r"dsn|database|conn|ur[il]", re.IGNORECASE)
"""variables that may hold a password in their midst"""
ORACLE = ("sqlplus", "sqlldr")
FOLDERS = ("PWD", "OLDPWD")
"""variables of a shell that end as a password's do"""


def secrets_in(words: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """Passwords in a command line or its environment, the longest first.

    Numbers and the program's own name are left out: they stand all over its output, and are hidden behind a password's
    name alone.
    """
    found = {_bare(each) for each in (*_secrets_of_variables(environment), *_secrets_of_command(words))}
    found |= {unquote(each) for each in found}
    program = Path(words[0]).name if words else ""
    telling = (each for each in found if each and each != program and not NUMBER.fullmatch(each))
    return sorted(telling, key=lambda each: (-len(each), each))


def _secrets_of_variables(environment: Mapping[str, str]) -> Iterator[str]:
    for name, value in environment.items():
        if name not in FOLDERS and NAMED_NEXT.fullmatch(name):
            yield value
        for pattern in (ASSIGNED, IN_ADDRESS) if ADDRESSES.search(name) else (IN_ADDRESS,):
            yield from (match["secret"] for match in pattern.finditer(value))


def _secrets_of_command(words: Sequence[str]) -> Iterator[str]:
    program = Path(words[0]).name if words else ""
    for word, following in zip(words, (*words[1:], ""), strict=True):
        for pattern in (ASSIGNED, BEHIND_OPTION, BEHIND_NAME, QUOTED, BEARER, IN_ADDRESS, IN_LOGIN):
            yield from (match["secret"] for match in pattern.finditer(word))
        if whole := WHOLE.fullmatch(word):
            yield whole["secret"]
        if program in ORACLE and "/" in word:
            yield word.partition("/")[2].partition("@")[0]
        if NAMED_NEXT.fullmatch(word) or (word == "-p" and program in WITH_PASSWORD_NEXT):
            yield following
        if word in LOGIN and ":" in following:
            yield following.partition(":")[2]
        if MYSQL.search(" ".join(words)):
            yield from (match["secret"] for match in SHORT.finditer(word))
            if word.startswith("-p") and "=" not in word:
                yield word[2:]


def _bare(value: str) -> str:
    return value[1:-1] if value[:1] in {'"', "'", "{"} and len(value) > 1 else value


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
        for pattern in (*IN_TEXT, SHORT) if MYSQL.search(line) else IN_TEXT:
            line = pattern.sub(_hidden, line)
        return line


def _hidden(match: re.Match[str]) -> str:
    is_figure = match.re is ASSIGNED and NUMBER.fullmatch(match["secret"]) and not SURE_NAME.search(match["before"])
    return match[0] if is_figure else match["before"] + HIDDEN
