"""The laboratory's TPC-C kit for sysbench: its draws against the model's distributions, and runs on two servers."""

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from oltpsim.calibration.importers.registry import read_file
from oltpsim.calibration.records import FileReading
from oltpsim.models.input import SourceFile
from oltpsim.models.workloads.tpcc.rows import CUSTOMER_A, ITEM_A, ITEMS, NAME_A, nurand_pmf, uniform_pmf
from oltpsim.simulator.form import FloatArray
from tests.calibration.conftest import value_of
from tests.postgresql_server import PASSWORD, PORT, programs, running_server

ROOT = Path(__file__).resolve().parents[3]
KIT = ROOT / "calibration" / "lab" / "kit" / "tpcc.lua"
POSTGRESQL = programs()
MARIADB = shutil.which("mariadbd") or shutil.which("mariadbd", path="/usr/sbin")
ITEM_C, CUSTOMER_C, NAME_C = 5432, 321, 223
SYLLABLES = ("BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING")
CLASSES = ("new_order", "payment", "order_status", "delivery", "stock_level")
THREADS, DRAWS = 2, 10_000
CERTAIN = 1e-4
"""a hypothesis less likely than that is refused; the draws are the same in every run"""

pytestmark = pytest.mark.skipif(
    shutil.which("sysbench") is None, reason="sysbench isn't installed: 'apt-get install sysbench' brings these back"
)


def sysbench(*words: str, timeout_s: float = 120) -> subprocess.CompletedProcess[str]:
    """The kit, run from another folder than its own."""
    return subprocess.run(
        ["sysbench", str(KIT), *words], capture_output=True, text=True, check=False, timeout=timeout_s, cwd="/"
    )


@dataclass(frozen=True)
class Transaction:
    """One that was drawn. `values`: what is entered, by name."""

    thread: int
    kind: str
    pause_s: float
    values: dict[str, str]


@cache
def drawn(*words: str, threads: int = THREADS, count: int = DRAWS, seed: int = 1) -> tuple[Transaction, ...]:
    done = sysbench(f"--threads={threads}", f"--events={count}", f"--rand-seed={seed}", *words, "draws")
    assert done.returncode == 0, done.stdout
    found = []
    for line in done.stdout.splitlines():
        if match := re.match(r"^(\d+) (\w+) pause_s=(\S+) (.*)$", line):
            values = dict(word.split("=", 1) for word in match[4].split())
            found.append(Transaction(int(match[1]), match[2], float(match[3]), values))
    assert len(found) == threads * count
    return tuple(found)


def drawn_transactions(kind: str) -> list[Transaction]:
    return [each for each in drawn("--warehouses=3") if each.kind == kind]


def likelihood(counts: FloatArray, pmf: FloatArray, bins: int = 100) -> float:
    """Chance of counts at least as far from this distribution, in groups of neighbouring values."""
    groups = np.arange(len(pmf)) * bins // len(pmf)
    seen, share = np.bincount(groups, counts), np.bincount(groups, pmf)
    return float(stats.chisquare(seen, share * counts.sum()).pvalue)


def items() -> list[int]:
    chosen = [int(word) for each in drawn_transactions("new_order") for word in each.values["items"].split(",")]
    return [item for item in chosen if item <= ITEMS]


def customers() -> list[int]:
    return [int(each.values["customer"]) for each in drawn_transactions("new_order")]


def name_numbers() -> list[int]:
    known = {
        SYLLABLES[number // 100] + SYLLABLES[number // 10 % 10] + SYLLABLES[number % 10]: number
        for number in range(1000)
    }
    assert len(known) == 1000
    return [known[each.values["last_name"]] for each in drawn_transactions("payment") if "last_name" in each.values]


@pytest.mark.parametrize(
    ("values", "a", "low", "high", "c"),
    [
        (items, ITEM_A, 1, ITEMS, ITEM_C),
        (customers, CUSTOMER_A, 1, 3000, CUSTOMER_C),
        (name_numbers, NAME_A, 0, 999, NAME_C),
    ],
)
def test_rows_are_drawn_as_the_model_draws_them(
    values: Callable[[], list[int]], a: int, low: int, high: int, c: int
) -> None:
    """By NURand with the constant of the run; neither evenly nor with another constant."""
    counts = np.bincount(np.array(values()) - low, minlength=high - low + 1).astype(float)
    assert likelihood(counts, nurand_pmf(a, low, high, c + low)) > CERTAIN
    assert likelihood(counts, uniform_pmf(high - low + 1)) < CERTAIN
    assert likelihood(counts, nurand_pmf(a, low, high, c + low + a // 2)) < CERTAIN


def test_the_constants_of_load_and_run_differ_as_they_may() -> None:
    text = (KIT.parent / "values.lua").read_text(encoding="utf-8")
    (match,) = re.findall(r"NAME_C_OF_RUN = (\d+), (\d+)", text)
    difference = abs(int(match[0]) - int(match[1]))
    assert 65 <= difference <= 119
    assert difference not in (96, 112)


def test_the_mix_is_of_weights() -> None:
    counts = Counter(each.kind for each in drawn("--warehouses=3"))
    seen = [counts[name] for name in CLASSES]
    assert stats.chisquare(seen, np.array([45, 43, 4, 4, 4]) / 100 * sum(seen)).pvalue > CERTAIN
    assert stats.chisquare(seen, np.array([10, 10, 1, 1, 1]) / 23 * sum(seen)).pvalue < CERTAIN


def shares() -> dict[str, tuple[int, int]]:
    """Cases and trials of each choice between two."""
    orders, payments, statuses = (drawn_transactions(name) for name in CLASSES[:3])
    suppliers = [(word, each) for each in orders for word in each.values["suppliers"].split(",")]
    return {
        "remote lines": (sum(word != each.values["warehouse"] for word, each in suppliers), len(suppliers)),
        "rolled back": (sum(each.values["rolled_back"] == "true" for each in orders), len(orders)),
        "remote payments": (
            sum(each.values["customer_warehouse"] != each.values["warehouse"] for each in payments), len(payments)
        ),
        "payments by name": (sum("last_name" in each.values for each in payments), len(payments)),
        "statuses by name": (sum("last_name" in each.values for each in statuses), len(statuses)),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("choice", "share", "another"),
    [
        ("remote lines", 0.01, 0.02),
        ("rolled back", 0.01, 0.02),
        ("remote payments", 0.15, 0.10),
        ("payments by name", 0.60, 2 / 3),
        ("statuses by name", 0.60, 0.45),
    ],
)
def test_shares_are_the_specifications(choice: str, share: float, another: float) -> None:
    cases, trials = shares()[choice]
    assert stats.binomtest(cases, trials, share).pvalue > CERTAIN
    assert stats.binomtest(cases, trials, another).pvalue < CERTAIN


def test_an_order_is_rolled_back_for_its_last_item() -> None:
    for each in drawn_transactions("new_order"):
        unused = [word == str(ITEMS + 1) for word in each.values["items"].split(",")]
        assert 5 <= len(unused) == int(each.values["lines"]) <= 15
        assert unused[-1] == (each.values["rolled_back"] == "true")
        assert not any(unused[:-1])


def test_one_warehouse_has_nothing_remote() -> None:
    for each in drawn("--warehouses=1", count=1000):
        assert set(each.values.get("suppliers", "1").split(",")) == {"1"}
        assert each.values.get("customer_warehouse", "1") == "1"


def test_one_seed_is_one_sequence_of_each_thread() -> None:
    two, four = drawn("--warehouses=3", count=50), drawn("--warehouses=3", count=50, threads=4)
    assert two == four[: len(two)]
    first, second = (
        [(each.kind, each.values) for each in two if each.thread == thread] for thread in range(2)
    )  # fmt: skip
    assert first != second
    assert drawn("--warehouses=3", count=50, seed=2) != two


def test_a_fixed_home_is_a_terminals() -> None:
    for each in drawn("--warehouses=3", "--home=fixed", threads=7, count=200):
        assert each.values["warehouse"] == str(each.thread % 3 + 1)
        if each.kind == "stock_level":
            assert each.values["district"] == str(each.thread // 3 + 1)
    drawn_homes = {each.values["warehouse"] for each in drawn("--warehouses=3") if each.thread == 0}
    assert drawn_homes == {"1", "2", "3"}


def test_think_times() -> None:
    assert {each.pause_s for each in drawn("--warehouses=3")} == {0.0}
    pauses = [each.pause_s for each in drawn("--warehouses=3", "--think-time=0.2")]
    assert np.mean(pauses) == pytest.approx(0.2, rel=0.03)
    keying = {"new_order": 18, "payment": 3, "order_status": 2, "delivery": 2, "stock_level": 2}
    specified = drawn("--warehouses=3", "--think-time=specification")
    assert all(each.pause_s >= keying[each.kind] for each in specified)
    thinking = 0.88 * 12 + 0.04 * (10 + 5 + 5)
    assert np.mean([each.pause_s - keying[each.kind] for each in specified]) == pytest.approx(thinking, rel=0.03)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("--home=here", "--home: got here; expected fixed or any"),
        ("--warehouses=0", "--warehouses: got 0; expected a whole number from 1 on"),
        ("--think-time=long", "--think-time: got long; expected no, specification or a mean in seconds above 0"),
        ("--warm-up-time=20", "--warm-up-time: got 20; expected less than --time, which is 10 s"),
    ],
)
def test_a_wrong_option_is_refused(word: str, said: str) -> None:
    done = sysbench(word, "run")
    assert done.returncode != 0
    assert f"tpcc: {said}" in done.stdout + done.stderr


@dataclass(frozen=True)
class Database:
    """A running server with an empty database. `words`: how sysbench finds it."""

    words: tuple[str, ...]
    query: Callable[[str], str]


@contextmanager
def postgresql() -> Iterator[Database]:
    if POSTGRESQL is None:
        pytest.skip("PostgreSQL isn't installed: 'apt-get install postgresql' brings this back")
    with running_server(POSTGRESQL) as server:
        place = (f"--pgsql-host={server.folder}", f"--pgsql-port={PORT}", "--pgsql-db=postgres")
        words = ("--db-driver=pgsql", *place, "--pgsql-user=bench", f"--pgsql-password={PASSWORD}")
        yield Database(words, server.query)


@contextmanager
def mariadb() -> Iterator[Database]:
    if MARIADB is None:
        pytest.skip("MariaDB isn't installed: 'apt-get install mariadb-server' brings this back")
    folder = Path(tempfile.mkdtemp(prefix="oltpsim-mariadb-"))
    folder.chmod(0o755)
    socket, log = folder / "socket", folder / "log"
    user = []
    if os.geteuid() == 0:
        shutil.chown(folder, "mysql", "mysql")
        user = ["--user=mysql"]

    def query(text: str) -> str:
        client = ["mariadb", "--no-defaults", f"--socket={socket}", f"--user={name}", "--batch", "-N", "-e", text]
        done = subprocess.run(client, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    name = "root"
    try:
        places = ["--no-defaults", *user, f"--datadir={folder / 'data'}"]
        subprocess.run(["mariadb-install-db", *places, "--skip-test-db", "--auth-root-authentication-method=normal"],
                       capture_output=True, check=True, timeout=120)  # fmt: skip
        options = ["--skip-networking", f"--pid-file={folder / 'pid'}", "--innodb-flush-log-at-trx-commit=2"]
        options += ["--innodb-buffer-pool-size=256M", "--innodb-lock-wait-timeout=1"]
        with log.open("wb") as output:
            server = subprocess.Popen([MARIADB, *places, f"--socket={socket}", *options], stdout=output, stderr=output)
        try:
            until_s = time.monotonic() + 60
            while not socket.exists():
                assert server.poll() is None, log.read_text()
                assert time.monotonic() < until_s, log.read_text()
                time.sleep(0.1)
            query("create database tpcc")
            words = ("--db-driver=mysql", f"--mysql-socket={socket}", f"--mysql-user={name}", "--mysql-db=tpcc")
            yield Database(words, lambda text: query(f"use tpcc; {text}"))
        finally:
            server.kill()
            server.wait(60)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


POPULATION = {
    "select count(*) from item": "100000",
    "select count(*) from warehouse": "1",
    "select count(*) from district": "10",
    "select count(*) from stock": "100000",
    "select count(*) from customer": "30000",
    "select count(*) from history": "30000",
    "select count(*) from orders": "30000",
    "select count(*) from new_order": "9000",
    "select count(*) from orders where o_carrier_id is null": "9000",
    "select count(*) from (select distinct o_d_id, o_c_id from orders) as each_customer": "30000",
    "select count(distinct c_last) from customer where c_d_id = 3 and c_id <= 1000": "1000",
    "select min(o_ol_cnt), max(o_ol_cnt) from orders": "5 15",
    "select count(*) from order_line where (ol_delivery_d is null) <> (ol_o_id > 2100)": "0",
    "select count(*) from order_line where (ol_amount = 0) <> (ol_o_id <= 2100)": "0",
    "select min(length(c_data)), max(length(c_data)) from customer": "300 500",
    "select min(length(s_data)), max(length(s_data)) from stock": "26 50",
}
ABOUT = {
    "select count(*) from order_line": (300_000, 3_000),
    "select count(*) from stock where s_data like '%ORIGINAL%'": (10_000, 500),
    "select count(*) from item where i_data like '%ORIGINAL%'": (10_000, 500),
    "select count(*) from customer where c_credit = 'BC'": (3_000, 250),
}
BROKEN = {
    1: "select count(*) from warehouse where w_ytd <> (select sum(d_ytd) from district where d_w_id = w_id)",
    2: """select count(*) from district where d_next_o_id - 1 <> (select max(o_id) from orders
        where o_w_id = d_w_id and o_d_id = d_id) or d_next_o_id - 1 <> (select max(no_o_id) from new_order
        where no_w_id = d_w_id and no_d_id = d_id)""",
    3: """select count(*) from (select 1 from new_order group by no_w_id, no_d_id
        having max(no_o_id) - min(no_o_id) + 1 <> count(*)) as districts""",
    4: """select count(*) from district where (select sum(o_ol_cnt) from orders
        where o_w_id = d_w_id and o_d_id = d_id) <> (select count(*) from order_line
        where ol_w_id = d_w_id and ol_d_id = d_id)""",
}
"""places where each of the consistency conditions 1 to 4 (clause 3.3.2) doesn't hold"""
DAMAGE = {
    1: "update district set d_ytd = d_ytd + 0.01 where d_id = 1",
    2: "update district set d_next_o_id = d_next_o_id + 1 where d_id = 2",
    3: "delete from new_order where no_d_id = 3 and no_o_id = 2990",
    4: "delete from order_line where ol_d_id = 4 and ol_o_id = 17 and ol_number = 1",
}


def answer(database: Database, text: str) -> str:
    return " ".join(re.split(r"[|\s]+", database.query(text).strip()))


def broken(database: Database) -> dict[int, str]:
    return {number: answer(database, text) for number, text in BROKEN.items()}


def run(database: Database, folder: Path, *words: str) -> FileReading:
    """A run in four threads, as it is imported."""
    done = sysbench(*database.words, "--threads=4", "--rand-seed=1", *words, "run")
    assert done.returncode == 0, done.stdout + done.stderr
    log = folder / "harness.log"
    log.write_text(done.stdout, encoding="utf-8")
    reading = read_file(SourceFile(log, log.name))
    assert reading is not None
    return reading


def number(reading: FileReading, key: str) -> float:
    value = value_of(reading, f"outcome.{key}")
    assert isinstance(value, float)
    return value


def check_population(database: Database) -> None:
    for text, expected in POPULATION.items():
        assert answer(database, text) == expected, text
    for text, (about, within) in ABOUT.items():
        assert abs(int(answer(database, text)) - about) < within, text
    assert set(broken(database).values()) == {"0"}


def check_counts(database: Database, folder: Path) -> None:
    """A run of so many events: each class's count is what the tables have more, and the other way round."""
    reading = run(database, folder, "--events=1500", "--time=0")
    counts = {name: number(reading, f"classes.{name}.count") for name in CLASSES}
    assert sum(counts.values()) + number(reading, "reported.rolled_back") == 1500
    assert int(answer(database, "select count(*) from orders")) - 30_000 == counts["new_order"]
    assert int(answer(database, "select count(*) from history")) - 30_000 == counts["payment"]
    delivered = 9_000 + counts["new_order"] - int(answer(database, "select count(*) from new_order"))
    assert delivered == 10 * counts["delivery"]
    paid = "select w_ytd - (select sum(h_amount) from history) from warehouse"
    assert answer(database, paid) == "0.00"  # the loaded rows have 10 each, and so has the warehouse
    longest = "select max(length(c_data)) from customer where c_credit = 'BC' and c_payment_cnt > 1"
    assert int(answer(database, longest)) > 300
    assert set(broken(database).values()) == {"0"}


def check_warm_up(database: Database, folder: Path) -> None:
    before = int(answer(database, "select count(*) from orders"))
    reading = run(database, folder, "--time=4", "--warm-up-time=2", "--report-interval=1", "--home=fixed")
    done = int(answer(database, "select count(*) from orders")) - before
    counted = number(reading, "classes.new_order.count")
    assert 0.2 * done < counted < 0.8 * done
    assert value_of(reading, "window.duration_s") == pytest.approx(2.0)
    assert number(reading, "new_orders_per_minute") == pytest.approx(counted * 30)
    assert number(reading, "reported.NOPM") == pytest.approx(counted * 30, abs=0.1)
    # Little's law of four clients; transactions per second of all four seconds would make it twice as much or half
    assert number(reading, "mean_ms") * number(reading, "transactions_per_s") == pytest.approx(4000, rel=0.4)
    assert number(reading, "classes.payment.percentiles_ms.50") <= number(reading, "classes.payment.max_ms")


def check_damage_shows(database: Database) -> None:
    for which, text in DAMAGE.items():
        database.query(text)
        assert broken(database)[which] == "1", which


def check_other_errors_end_it(database: Database) -> None:
    database.query("update warehouse set w_ytd = 9999999999.99")
    done = sysbench(*database.words, "--threads=4", "--time=30", "run", timeout_s=20)
    assert done.returncode != 0
    assert re.search(r"tpcc: payment failed: SQL error, errno = \d+, state = '22003'", done.stdout + done.stderr)


def check(database: Database, folder: Path, retried: Callable[[Database, Path], float]) -> None:
    loaded = sysbench(*database.words, "--threads=2", "--rand-seed=1", "prepare")
    assert loaded.returncode == 0, loaded.stdout + loaded.stderr
    check_population(database)
    again = sysbench(*database.words, "--threads=2", "prepare", timeout_s=20)
    assert again.returncode != 0
    assert "tpcc: prepare failed: SQL error" in again.stderr
    check_counts(database, folder)
    check_warm_up(database, folder)
    assert retried(database, folder) > 0
    assert set(broken(database).values()) == {"0"}
    check_damage_shows(database)
    check_other_errors_end_it(database)
    dropped = sysbench(*database.words, "cleanup")
    assert dropped.returncode == 0, dropped.stdout
    without = sysbench(*database.words, "--time=2", "run", timeout_s=20)
    assert without.returncode != 0
    assert "tpcc: " in without.stdout + without.stderr


def serialization_failures(database: Database, folder: Path) -> float:
    """Of a stricter isolation, in which whoever waits for a row that another changes must begin anew."""
    database.query("alter role bench set default_transaction_isolation = 'repeatable read'")
    reading = run(database, folder, "--time=2")
    database.query("alter role bench reset default_transaction_isolation")
    return number(reading, "errors_per_s")


def lock_waits(database: Database, folder: Path) -> float:
    """Of a row that another client holds for longer than the server lets anyone wait."""
    running = subprocess.Popen(
        ["sysbench", str(KIT), *database.words, "--threads=4", "--time=5", "run"], stdout=subprocess.PIPE, text=True
    )
    time.sleep(1)
    database.query("begin; select * from warehouse for update; select sleep(2); rollback")
    output, _ = running.communicate(timeout=30)
    assert running.returncode == 0, output
    log = folder / "waits.log"
    log.write_text(output, encoding="utf-8")
    reading = read_file(SourceFile(log, log.name))
    assert reading is not None
    return number(reading, "errors_per_s")


@pytest.mark.slow
def test_postgresql(tmp_path: Path) -> None:
    with postgresql() as database:
        check(database, tmp_path, serialization_failures)


@pytest.mark.slow
def test_mariadb(tmp_path: Path) -> None:
    with mariadb() as database:
        check(database, tmp_path, lock_waits)
