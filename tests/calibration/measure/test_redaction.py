"""Passwords in a command line, an environment and a load generator's output."""

import pytest

from oltpsim.calibration.measure.redaction import Redaction, secrets_in

SECRET = "hunter2"  # noqa: S105 - nobody's
COMMANDS = [
    ["sysbench", "--pgsql-password=hunter2"],
    ["sysbench", "--mysql-password", "hunter2"],
    ["sysbench", "--mysql-password='hunter2'"],
    ["tool", "--pw=hunter2"],
    ["tool", "--pw", "hunter2"],
    ["tool", "-pw", "hunter2"],
    ["tool", "--pass:hunter2"],
    ["tool", "--passwd=hunter2"],
    ["tool", "--passphrase", "hunter2"],
    ["tool", "--db.password=hunter2"],
    ["tool", "--DB_PASSWORD=hunter2"],
    ["tool", "--auth-token=hunter2"],
    ["tool", "--token", "hunter2"],
    ["tool", "--api-key=hunter2"],
    ["tool", "--secret-access-key", "hunter2"],
    ["tool", "password=hunter2"],
    ["tool", "host=db password=hunter2 user=bench"],
    ["tool", "host=db password='hunter2' user=bench"],
    ["tool", "Server=db;Uid=bench;Pwd=hunter2;"],
    ["tool", "postgresql://bench:hunter2@db/tpcc"],
    ["tool", "mysql://bench:hunter2@db:3306/tpcc?ssl=1"],
    ["tool", "jdbc:mysql://db/tpcc?user=bench&password=hunter2&useSSL=false"],
    ["tool", '{"user": "bench", "password": "hunter2"}'],
    ["tool", "{'password': 'hunter2'}"],
    ["tool", '{"password":"hunter2","threads":8}'],
    ["tool", "password: hunter2"],
    ["tool", '"db_password" => "hunter2"'],
    ["mysql", "-phunter2"],
    ["mysqlslap", "-u", "root", "-phunter2"],
    ["tpcc_start", "-h127.0.0.1", "-uroot", "-p", "hunter2", "-w10"],
    ["sh", "-c", "mysql -uroot -phunter2 tpcc"],
    ["sh", "-c", "sysbench --mysql-password=hunter2 run"],
    ["sh", "-c", "sysbench --mysql-password hunter2 run"],
    ["sh", "-c", "PGPASSWORD=hunter2 pgbench -c 8"],
    ["env", "PGPASSWORD=hunter2", "pgbench"],
    ["env", "MYSQL_PWD=hunter2", "sysbench"],
    ["env", "REDISCLI_AUTH=hunter2", "memtier"],
    ["hammerdbcli", "diset tpcc pg_pass hunter2"],
    ["hammerdbcli", "diset tpcc pg_superuserpass hunter2; vurun"],
    ["hammerdbcli", "diset tpcc mysql_pass {hunter2}"],
    ["hammerdbcli", 'diset tpcc maria_pass "hunter2"'],
    ["hammerdbcli", "diset", "connection", "pg_pass", "hunter2"],
    ["go-ycsb", "run", "mysql", "-p", "mysql.password=hunter2"],
    ["ycsb", "run", "jdbc", "-p", "db.passwd=hunter2"],
    ["go-tpc", "tpcc", "-p", "8", "--password", "hunter2"],
    ["curl", "-u", "bench:hunter2", "http://127.0.0.1"],
    ["curl", "-H", "Authorization: Bearer hunter2"],
    ["sqlplus", "system/hunter2@orcl"],
    ["tool", "--connect", "bench/hunter2@//db/orcl"],
    ["benchbase", "--conf=password=hunter2"],
    ["psql", "-c", "alter role bench password 'hunter2'"],
    ["tool", "--credentials", "hunter2"],
    ["sqlplus", "scott/hunter2"],
    ["mysql", "-e", "create user bench identified by 'hunter2'"],
    ["tool", "postgresql://bench:hun%74er2@db/tpcc"],
]
ENVIRONMENTS = [
    {"PGPASSWORD": SECRET},
    {"MYSQL_PWD": SECRET},
    {"DB_PASSWORD": SECRET},
    {"REDISCLI_AUTH": SECRET},
    {"AWS_SECRET_ACCESS_KEY": SECRET},
    {"DSN": f"user=bench password={SECRET} host=db"},
    {"DATABASE_URL": f"postgres://bench:{SECRET}@db/tpcc"},
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_password_in_a_command_stays_out_of_the_output(words: list[str]) -> None:
    hidden = Redaction(secrets_in(words, {}))
    assert SECRET not in hidden(f"connecting with {SECRET}, 8 threads")
    assert SECRET not in hidden(" ".join(words))
    assert hidden("transactions: 1234 (20.5 per sec.), 8 threads, user bench") == (
        "transactions: 1234 (20.5 per sec.), 8 threads, user bench"
    )


HARD = 'aB,9;x&{"z'
"""a password with what ends values elsewhere"""


@pytest.mark.parametrize(
    "words",
    [["sysbench", f"--mysql-password={HARD}"], ["sysbench", "--pgsql-password", HARD], ["mysql", f"-p{HARD}"],
     ["env", f"PGPASSWORD={HARD}", "pgbench"], ["tool", f"--pw={HARD}"]],
    ids=" ".join,
)  # fmt: skip
def test_all_of_a_password_is_hidden(words: list[str]) -> None:
    assert Redaction(secrets_in(words, {}))(f"connecting with {HARD}, 8 threads") == "connecting with ****, 8 threads"


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda environment: next(iter(environment)))
def test_a_password_in_a_variable_stays_out_of_the_output(environment: dict[str, str]) -> None:
    assert SECRET not in Redaction(secrets_in(["pgbench"], environment))(f"using {SECRET}")


@pytest.mark.parametrize(
    "words",
    [
        ["pgbench", "-p5433", "-T", "60", "--progress=5"],
        ["pgbench", "-p", "5433", "bench"],
        ["go-tpc", "tpcc", "-p", "8", "run"],
        ["ycsb", "run", "jdbc", "-p", "threadcount=8"],
        ["tool", "--passes=3"],
        ["tool", "-pw"],
        ["sysbench", "--pgsql-password=sysbench"],
        ["mysql", "-p123456"],
        ["tool", "/data/bench@home"],
    ],
    ids=" ".join,
)
def test_what_is_no_password_is_not_taken_for_one(words: list[str]) -> None:
    assert secrets_in(words, {"PWD": "/srv/bench", "HOME": "/srv/bench", "SSH_AUTH_SOCK": "/run/agent"}) == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Changed tpcc:pg_pass from tiger to hunter2 for PostgreSQL", "Changed tpcc:pg_pass from **** for PostgreSQL"),
        ('"db.passwd"="hunter2"', '"db.passwd"=****'),
        ("opening postgres://bench:hunter2@db/tpcc", "opening postgres://bench:****@db/tpcc"),
        ("password: 12", "password: ****"),
        ("+ sysbench --mysql-password zzz run", "+ sysbench --mysql-password **** run"),
        ("+ mysql -uroot -phunter2 tpcc", "+ mysql -uroot -p**** tpcc"),
    ],
)
def test_a_password_that_the_command_does_not_hold_is_hidden_where_it_is_named(line: str, expected: str) -> None:
    assert Redaction([])(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        "password authentication failed for user bench",
        "latency average = 2.345 ms",
        "Vuser 1:TEST RESULT : System achieved 12345 NOPM from 28456 PostgreSQL TPM",
        "[ 10s ] thds: 8 tps: 950.27 qps: 19017.24 lat (ms,95%): 12.30 err/s: 0.00",
        "number of passes: 3",
        "second-pass: 12.5 ms",
        "lock_token: 50",
        "Basic 10000 tps",
        "qps: 100000",
        "[NEW_ORDER - Takes(s): 10.0, Count: 1234, TPM: 7404.2, Sum(ms): 5678.9]",
    ],
)
def test_a_line_without_one_stays_as_it_is(line: str) -> None:
    assert Redaction(["hunter2"])(line) == line
