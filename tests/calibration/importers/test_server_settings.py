"""Settings of a server in each form that it is had in; the sections, comments and defaults that are none of its own."""

import json
from collections.abc import Callable

import pytest

from oltpsim.calibration.records import FileReading
from oltpsim.simulator.errors import InputError
from tests.calibration.conftest import value_of

Written = Callable[[str, str], FileReading]
MY_CNF = """# performance
[client]
socket = /run/mysqld.sock
[mysqld]
skip-name-resolve
loose-innodb-io-capacity = 400
innodb_buffer_pool_size         = 70G
innodb-log-file-size            = "32G"   # two files
innodb_flush_log_at_trx_commit  = 1          # full ACID; use 2 for ~10 % more
skip-innodb-doublewrite
innodb_io_capacity = 10000
[mysqldump]
innodb_io_capacity = 1
max_allowed_packet = 64M
"""
IN_FRAMES = """+-------------------------+-----------+
| Variable_name           | Value     |
+-------------------------+-----------+
| innodb_buffer_pool_size | 536870912 |
| innodb_io_capacity      | 10000     |
| version                 | 10.11.6-MariaDB-log |
+-------------------------+-----------+
3 rows in set (0.001 sec)
"""
BY_G = """*************************** 1. row ***************************
Variable_name: innodb_buffer_pool_size
        Value: 536870912
*************************** 2. row ***************************
Variable_name: innodb_io_capacity
        Value: 10000
2 rows in set (0.00 sec)
"""
AS_JSON = json.dumps([
    {"VARIABLE_NAME": "innodb_buffer_pool_size", "VARIABLE_VALUE": "536870912"},
    {"VARIABLE_NAME": "innodb_io_capacity", "VARIABLE_VALUE": "10000"},
])  # fmt: skip
POSTGRESQL_CONF = """# -----------------------------
# PostgreSQL configuration file
# -----------------------------
#shared_buffers = 128MB
shared_buffers = 4GB                    # min 128kB
max_wal_size = 16GB
checkpoint_timeout = 15min              # range 30s-1d
#fsync = off
log_line_prefix = '%m [%p] ''x'' '
full_page_writes off
checkpoint_timeout = '30min'
"""
SHOW_ALL = """        name        | setting |             description
--------------------+---------+--------------------------------------
 checkpoint_timeout | 30min   | Sets the maximum time.
 full_page_writes   | off     | Writes full pages.
 max_wal_size       | 16GB    | Sets the WAL size.
 shared_buffers     | 4GB     | Sets the number of buffers.
(4 rows)
"""
PG_SETTINGS = """-[ RECORD 1 ]-----------------
name    | shared_buffers
setting | 524288
unit    | 8kB
-[ RECORD 2 ]-----------------
name    | checkpoint_timeout
setting | 1800
unit    | s
-[ RECORD 3 ]-----------------
name    | full_page_writes
setting | off
unit    |
"""


@pytest.mark.parametrize(
    ("text", "pool_gib"),
    [
        (MY_CNF, 70),
        (IN_FRAMES, 0.5),
        (BY_G, 0.5),
        (AS_JSON, 0.5),
        (IN_FRAMES.replace("| innodb_io", "|innodb_io"), 0.5),
    ],
)
def test_innodbs_settings_are_read_in_each_form(written: Written, text: str, pool_gib: float) -> None:
    reading = written("settings.txt", text)
    assert value_of(reading, "engine.buffer_pool_gib") == pool_gib
    assert value_of(reading, "engine.settings.innodb_io_capacity") == "10000"


@pytest.mark.parametrize("text", [POSTGRESQL_CONF, SHOW_ALL, PG_SETTINGS])
def test_postgresqls_settings_are_read_in_each_form(written: Written, text: str) -> None:
    reading = written("settings.txt", text)
    assert value_of(reading, "engine.buffer_pool_gib") == 4
    assert value_of(reading, "engine.settings.full_page_writes") == "off"
    assert value_of(reading, "engine.settings.checkpoint_timeout") in ("30min", "1800 s")
    assert ("engine", "settings", "fsync") not in reading.values, "a commented line is a default"


def test_an_option_file_is_that_of_the_server(written: Written) -> None:
    reading = written("my.cnf", MY_CNF)
    assert value_of(reading, "engine.settings.innodb_flush_log_at_trx_commit") == "1"
    assert value_of(reading, "engine.settings.innodb_log_file_size") == "32G"
    assert value_of(reading, "engine.settings.innodb_doublewrite") == "OFF"


def test_the_variables_name_the_server(written: Written) -> None:
    assert value_of(written("variables.txt", IN_FRAMES), "engine.name") == "MariaDB"
    other = IN_FRAMES.replace("10.11.6-MariaDB-log", "8.0.36             ")
    assert value_of(written("variables.txt", other), "engine.name") == "MySQL"
    assert value_of(written("my.cnf", MY_CNF), "engine.name") == "MySQL or MariaDB"


@pytest.mark.parametrize(
    ("text", "old", "new", "said"),
    [
        (MY_CNF, "70G", "much", "line 7, innodb_buffer_pool_size: got 'much'; expected is no size"),
        (IN_FRAMES, "3 rows in set", "4 rows in set", "got 3 rows; expected 4 as is counted below them"),
        (IN_FRAMES, "| 10000     |", "|", "got 1 columns; expected 2"),
        (SHOW_ALL, "(4 rows)", "(5 rows)", "got 4 rows; expected 5"),
        (PG_SETTINGS, "unit    | s\n", "", "a record of 2 columns; expected the 3"),
    ],
)
def test_a_table_of_settings_that_is_cut_is_refused(written: Written, text: str, old: str, new: str, said: str) -> None:
    assert old in text
    with pytest.raises(InputError) as raised:
        written("settings.txt", text.replace(old, new, 1))
    assert said in str(raised.value)
