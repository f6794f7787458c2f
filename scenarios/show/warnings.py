"""Codes of warnings, for one line on the screen each, and what each code means."""

import textwrap
from dataclasses import dataclass

OTHER = "other"


@dataclass(frozen=True)
class WarningKind:
    """A kind of warning. `mark`: words that all its sentences have, which engines and models write."""

    mark: str
    meaning: str
    remedy: str


WARNING_KINDS = {
    "beyond-fit": WarningKind(
        "model error not fitted to",
        "The formulas' error was fitted to random systems. This one has a part or a size that none of those had, so "
        "the interval may be too narrow.",
        "Confirm with --engine kernel, whose simulation needs no such fit.",
    ),
    "no-p95": WarningKind(
        "percentiles of response times",
        "The formulas know the mean response time, but their error of p95 is too large to print it.",
        "--engine kernel simulates the distribution.",
    ),
    "few-transactions": WarningKind(
        "transactions of the main class were counted",
        "Fewer than 1,000 transactions ended in the counted interval, so that chance is large.",
        "Count longer: '10 min' in a line, interval.duration_s in a scenario.",
    ),
    "credits": WarningKind(
        "credits ran out",
        "A volume bursts above its base rate as long as its credits last, and falls to the base rate then.",
        "Take a volume with a higher base rate, or one without credits.",
    ),
    "overload": WarningKind(
        "overloaded: of",
        "More transactions arrive than the machine completes: the queue grows for as long as the run lasts.",
        "Lower the arrival rate, or take a larger machine; the response times of this run mean nothing.",
    ),
    "swapping": WarningKind(
        "the machine swaps",
        "System, server and buffer pool together need more than the memory, so that pool pages are swapped out.",
        "Make the pool smaller, or the memory larger.",
    ),
    "idle-warehouses": WarningKind(
        " are in use: each client works for one of its own",
        "The driver ties each client to a unit of data, and there are fewer clients than units: the rest isn't read.",
        "Give as many clients as units, or a driver whose clients work for all of them.",
    ),
    "round-trip": WarningKind(
        "change nothing while clients_on_server is true",
        "Clients on the server make no round trip, so that the network's time isn't used.",
        "Set machine.network.clients_on_server: false, or leave the round trip out.",
    ),
    "statement-time": WarningKind(
        "CPU time of a statement isn't known",
        "Only TPC-C transactions of this database were measured; a single statement's time is taken from them.",
        "Give database.path.statement_us.",
    ),
    "statement-texts": WarningKind(
        "to parse a statement",
        "The driver sends statements as texts. Only MySQL's time to parse one was ever compared with runs.",
        "Expect an error of up to a half where the processors are busy.",
    ),
    "change-buffer": WarningKind(
        "merged only when a leaf is read",
        "InnoDB merges its change buffer in the background, too; with buffered I/O that is left out here.",
        "Use direct I/O (innodb_flush_method O_DIRECT), as servers do.",
    ),
    "flood": WarningKind(
        "the rate may be that of this flood",
        "A warm start begins with as many dirty pages as faster disks would have; these disks write them first.",
        "Give a longer interval.warm_up_s, or interval.start: after_prewarm.",
    ),
    "log-behind-writes": WarningKind(
        "that write-back may have there",
        "Log and data share a volume with a cap, and a commit's flush waits behind the writes of the page cache.",
        "Put the log on a volume of its own, or set operating_system.page_cache.in_flight_pages.",
    ),
    "full-pages-off": WarningKind(
        "full-page writes are off",
        "PostgreSQL writes whole pages to its log after each checkpoint unless that is turned off, as it is here.",
        "Set database.checkpoint.full_page_writes: true for a server with its defaults.",
    ),
    "many-threads": WarningKind(
        "hardware threads, and no run of",
        "The database was compared with runs on far fewer hardware threads. Its latches may not scale to so many.",
        "Take the rate as an upper bound.",
    ),
    "sampled": WarningKind(
        "pages sampled:",
        "A share of the pages is simulated and stands for all of them.",
        "sampling_fraction: 1 simulates all pages, in more time and memory.",
    ),
    "sampled-thinly": WarningKind(
        "sampled too thinly",
        "So few pages are simulated that their turnover or their writes differ from the whole pool's.",
        "Give a larger sampling_fraction.",
    ),
    "one-of-many": WarningKind(
        "equal servers is simulated and stands for all",
        "The servers of the cluster are alike; one is simulated, with its share of the load.",
        "Read the rate as that of one server; the warning has the rate of all.",
    ),
    "replications": WarningKind(
        "only the rate is of seeds",
        "The rate is the mean over several seeds; every other figure is the first seed's.",
        "Save single seeds with --seed and --save for their figures.",
    ),
    "not-steady": WarningKind(
        "not steady",
        "The rate still changes within the counted interval, for example by checkpoints, so that the effect of chance "
        "isn't known and isn't in the interval.",
        "Run longer, several checkpoint intervals; a line without a time runs until it is steady.",
    ),
    OTHER: WarningKind("", "A warning without a page of its own.", "Its sentence is whole in --output json."),
}
"""Kinds of warnings by code; a sentence is of the first kind whose mark it has"""


def warning_code(sentence: str) -> str:
    """Code of a warning."""
    return next(code for code, kind in WARNING_KINDS.items() if kind.mark in sentence)


def warning_lines(sentences: list[str], width: int, most: int) -> list[str]:
    """At most so many warnings in one line each, with codes; how to read what is left out."""
    lines = []
    for sentence in sentences[:most]:
        start = f"  warning {warning_code(sentence)}: "
        lines.append(start + textwrap.shorten(sentence, width - len(start), placeholder=" ..."))
    more = f"{len(sentences) - most} more: -o json; " if len(sentences) > most else ""
    is_cut = bool(more) or any(line.endswith(" ...") for line in lines)
    return [*lines, f"    {more}(oltpsim explain {warning_code(sentences[0])}, and so on)"] if is_cut else lines


def explained_warning(code: str, width: int) -> str:
    """Meaning of a code, and what to do."""
    kind = WARNING_KINDS[code]
    return "\n".join(
        [
            code,
            *(
                textwrap.fill(text, width, initial_indent="  ", subsequent_indent="  ")
                for text in (kind.meaning, kind.remedy)
            ),
        ]
    )
