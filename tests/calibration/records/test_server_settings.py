"""Settings of a server as keys of a scenario, those that several make together, and those that make none."""

import pytest

from oltpsim.calibration.records import gib, known_settings, setting_effects

REDO = "database.page_cleaner.redo_capacity_gib"
COMMIT, SYNCS = "database.log.commit", "database.log.syncs_per_group"


@pytest.mark.parametrize(
    ("text", "bare", "size_gib"),
    [
        ("32G", "", 32),
        ("1024", "m", 1),
        ("16384 8kB", "", 0.125),
        ("2048 MB", "", 2),
        ("1073741824", "", 1),
        ("4GiB", "", 4),
    ],
)
def test_sizes_have_units_of_their_own(text: str, bare: str, size_gib: float) -> None:
    assert gib(text, bare) == size_gib
    assert gib(text, "" if bare else "k") == (1024 / 2**30 if bare else gib(text) * (1024 if text.isdigit() else 1))


@pytest.mark.parametrize(("text", "value_s"), [("15min", 900), ("300 s", 300), ("300", 300), ("1d", 86400)])
def test_times_have_units(text: str, value_s: float) -> None:
    keys = setting_effects({"checkpoint_timeout": text}, False, 1).keys
    assert keys == {"database.checkpoint.interval_s": (value_s, "checkpoint_timeout")}


@pytest.mark.parametrize("text", ["", "much", "-1", "4 X", "1e3"])
def test_no_size_and_no_time_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no size; write for example"):
        gib(text)
    effects = setting_effects({"checkpoint_timeout": text, "innodb_log_file_size": text}, False, 1)
    assert not effects.keys
    assert len(effects.unread) == 2


@pytest.mark.parametrize(
    ("settings", "is_mariadb", "size_gib"),
    [
        ({"innodb_log_file_size": "32G"}, True, 32),
        ({"innodb_log_file_size": "32G"}, False, 64),
        ({"innodb_log_file_size": "1G", "innodb_log_files_in_group": "4"}, True, 4),
        ({"innodb_redo_log_capacity": "8G", "innodb_log_file_size": "1G"}, False, 8),
        ({"innodb_redo_log_capacity": "104857600", "innodb_log_file_size": "1G"}, False, 2),
        ({"innodb_redo_log_capacity": "104857600"}, False, 0.09765625),
    ],
)
def test_the_redo_log_is_its_capacity_or_its_files(settings: dict[str, str], is_mariadb: bool, size_gib: float) -> None:
    assert setting_effects(settings, is_mariadb, 1).keys[REDO][0] == size_gib


@pytest.mark.parametrize(
    ("settings", "usual_syncs", "commit", "syncs"),
    [
        ({"innodb_flush_log_at_trx_commit": "1"}, 1, "durable", 1),
        ({"innodb_flush_log_at_trx_commit": "1"}, 2, "durable", 2),
        ({"innodb_flush_log_at_trx_commit": "2"}, 1, "buffered", 1),
        ({"innodb_flush_log_at_trx_commit": "2", "sync_binlog": "1"}, 2, "durable", 1),
        ({"innodb_flush_log_at_trx_commit": "1", "sync_binlog": "1", "log_bin": "ON"}, 1, "durable", 2),
        ({"innodb_flush_log_at_trx_commit": "1", "sync_binlog": "1", "log_bin": "OFF"}, 2, "durable", 1),
        ({"innodb_flush_log_at_trx_commit": "1", "sync_binlog": "0", "log_bin": "/var/bin"}, 2, "durable", 1),
        ({"innodb_flush_log_at_trx_commit": "0", "sync_binlog": "1000", "log_bin": "ON"}, 2, "buffered", 1),
    ],
)
def test_a_commit_waits_for_both_logs(settings: dict[str, str], usual_syncs: int, commit: str, syncs: int) -> None:
    keys = setting_effects(settings, False, usual_syncs).keys
    assert (keys[COMMIT][0], keys[SYNCS][0]) == (commit, syncs)


def test_postgresqls_commits_wait_by_two_settings() -> None:
    for settings, commit in (
        ({"synchronous_commit": "on", "fsync": "on"}, "durable"),
        ({"synchronous_commit": "off", "fsync": "on"}, "buffered"),
        ({"synchronous_commit": "on", "fsync": "off"}, "buffered"),
    ):
        assert setting_effects(settings, False, 1).keys[COMMIT][0] == commit


def test_a_value_that_the_model_lacks_is_noted_and_sets_nothing() -> None:
    effects = setting_effects({"innodb_flush_method": "O_DSYNC", "innodb_io_capacity": "many"}, False, 1)
    assert not effects.keys
    assert [line.partition(":")[0] for line in effects.unread] == [
        "engine.settings.innodb_flush_method",
        "engine.settings.innodb_io_capacity",
    ]


def test_a_setting_without_a_key_is_listed() -> None:
    effects = setting_effects({"wal_compression": "on", "max_connections": "200", "of_another_tool": "1"}, False, 1)
    assert not effects.keys
    assert len(effects.without_key) == 3


def test_each_row_of_the_table_has_a_key_or_none() -> None:
    for name, row in known_settings().items():
        assert not (row.key and (row.why or row.is_read_with_others)), name
        assert (row.form == "choice") == bool(row.choices), name
