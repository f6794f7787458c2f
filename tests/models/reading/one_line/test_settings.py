"""Settings of a line that are keys of the scenario: what they set, and where they are refused."""

from __future__ import annotations

from typing import Any

import pytest

from oltpsim.models.input import value_at
from oltpsim.models.machine.cpu import slowdowns
from oltpsim.models.reading import read_description
from oltpsim.models.reading.one_line.words import ATOMS, disk_terms, patterns, table
from oltpsim.models.wiring import build
from oltpsim.simulator.analytic import simulate
from oltpsim.simulator.errors import InputError

POSTGRESQL, INNODB = "8 cores, 32 GB, NVMe, PostgreSQL 16", "8 cores, 32 GB, NVMe, MySQL 8.0, go-tpc"
MARIADB, SYSBENCH = "8 cores, 32 GB, NVMe, MariaDB 11", "8 cores, 32 GB, NVMe, MySQL 8.0, sysbench"


def value(line: str, key: str) -> Any:
    """What stands at a key of a line's scenario."""
    found: Any = read_description(line).scenario
    for word in key.split("."):
        found = getattr(found, word)
    return found


@pytest.mark.parametrize(
    ("line", "piece", "key", "usual", "said"),
    [
        (POSTGRESQL, "clients in the same zone", "machine.network.round_trip_us", 0, 200),
        (POSTGRESQL, "client in another zone", "machine.network.clients_on_server", True, False),
        (POSTGRESQL, "round trip 0.5 ms", "machine.network.round_trip_us", 0, 500),
        (POSTGRESQL, "RDS", "machine.network.clients_on_server", True, False),
        (POSTGRESQL, "RDS, client in another zone", "machine.network.round_trip_us", 0, 700),
        (POSTGRESQL, "synchronous_commit off", "database.log.commit", "durable", "buffered"),
        (POSTGRESQL, "checkpoint_timeout 30 min", "database.checkpoint.interval_s", None, 1800),
        (POSTGRESQL, "max_wal_size 3 GB", "database.checkpoint.most_log_gib", None, 3),
        (POSTGRESQL, "huge pages", "database.connections_map_pool", True, False),
        (INNODB, "innodb_flush_log_at_trx_commit 2", "database.log.syncs_per_group", 2, 1),
        (INNODB, "sync_binlog 0", "database.log.syncs_per_group", 2, 1),
        (INNODB, "flush log 2, sync_binlog 1000", "database.log.commit", "durable", "buffered"),
        (INNODB, "flush log 0, no binlog", "database.log.commit", "durable", "buffered"),
        (MARIADB, "sync_binlog 1", "database.log.syncs_per_group", 1, 2),
        (MARIADB, "flush log 2", "database.log.commit", "durable", "buffered"),
        (INNODB, "redo 3 GB", "database.page_cleaner.redo_capacity_gib", None, 3),
        (INNODB, "innodb_log_file_size=3G", "database.page_cleaner.redo_capacity_gib", None, 6),
        (INNODB, "innodb_log_file_size 3 GB x 4", "database.page_cleaner.redo_capacity_gib", None, 12),
        (MARIADB, "innodb_log_file_size=3G", "database.page_cleaner.redo_capacity_gib", None, 3),
        (INNODB, "innodb_io_capacity 1234", "database.page_cleaner.io_capacity_per_s", None, 1234),
        (INNODB, "4k pages", "database.page_kib", 16, 4),
        (INNODB, "4k pages", "workload.layout.page_kib", 16, 4),
        (INNODB, "doublewrite off", "database.page_cleaner.doublewrite", True, False),
        (POSTGRESQL, "drive 30 % full", "machine.disks.disk.filled_fraction", None, 0.3),
        (POSTGRESQL, "no PLP", "machine.disks.disk.power_loss_protection", True, False),
        (POSTGRESQL, "cpu limit 2", "machine.cpu.quota_cores", None, 2),
        ("2 x 6-core Xeon 2.4 GHz, 32 GB", "SSD", "machine.cpu.sockets", 2, 2),
        ("i4i.2xlarge", "drive 30 % full", "machine.disks.disk.filled_fraction", None, 0.3),
    ],
)
def test_a_piece_sets_its_key(line: str, piece: str, key: str, usual: Any, said: Any) -> None:
    """`usual`: None where a default is another part's to choose; it only has to be another one."""
    before = value(line, key)
    assert before == usual if usual is not None else before != said
    assert value(f"{line}, {piece}", key) == said
    assert key in {row.key for row in read_description(f"{line}, {piece}").rows if row.piece} or "layout" in key


def test_smaller_pages_take_as_much_memory() -> None:
    (usual, per_usual), (small, per_small) = [
        (value(line, "database.pool.buffers"), value(line, "database.pool.memory_per_buffer_kib"))
        for line in (INNODB, f"{INNODB}, 4k pages")
    ]
    assert small * per_small == pytest.approx(usual * per_usual, rel=1e-3)
    assert value(f"{INNODB}, 4k pages, 100,000 buffers", "database.pool.buffers") == 100_000


@pytest.mark.parametrize(
    ("pieces", "distribution"),
    [
        ("", "uniform"), (" --rand-type=special", "special"), (" --rand-type=pareto", "pareto"),
        (" --rand-type=zipfian", "zipf"), (" 1.0.20", "special"), (" 1.0.20 --rand-type=uniform", "uniform"),
    ],
)  # fmt: skip
def test_sysbench_draws_keys_as_its_option_or_release_says(pieces: str, distribution: str) -> None:
    transactions = value(SYSBENCH + pieces, "workload.transactions")
    drawn = {
        statement.key.distribution for each in transactions for statement in each.statements if statement.key != "same"
    }
    assert drawn == {distribution}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (f"{POSTGRESQL}, redo 4 GB", "'redo 4 GB': only InnoDB has it here, and postgresql-16 hasn't"),
        (f"{INNODB}, fsync off", "'fsync off': only PostgreSQL has it here, and mysql-8-0 hasn't"),
        (f"{POSTGRESQL}, no binlog", "only InnoDB has it here"),
        (f"{INNODB}, no binlog, sync_binlog 1", "without a binary log it isn't synced"),
        ("8 cores, 4 SATA, empty drive", "only SSDs have it"),
        ("8 cores, gp3 500 GiB, no PLP", "only SSDs have it"),
        (f"{POSTGRESQL}, 4k pages", "no rows of this workload in such pages of postgresql-16"),
        (f"{POSTGRESQL}, --rand-type=special", "is sysbench's"),
        (f"{POSTGRESQL}, RDS, client on the server", "a database service's machine runs nothing else"),
        (f"{POSTGRESQL}, round trip 1 ms, client on the server", "both say"),
        ("8 cores, 4 TB RAM", "4,096 GiB of memory with 8 cores"),
        ("8 cores, 65 NVMe", "a server takes at most 64 of them"),
    ],
)
def test_what_does_not_fit_is_refused(line: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read_description(line)
    assert words in str(caught.value)


@pytest.mark.parametrize("line", ["64 cores, 4 TB RAM", "8 cores, 64 NVMe", f"{INNODB}, sync_binlog 1"])
def test_a_large_machine_that_is_sold_is_none_of_them(line: str) -> None:
    read_description(line)


def test_another_release_keeps_the_settings() -> None:
    line = "8 cores, 32 GB, NVMe, MySQL"
    for pieces, syncs in (("", 2), (", no binlog", 1)):
        description = read_description(line + pieces)
        (other,) = next(row for row in description.rows if row.key == "database").others
        assert description.changed(other).database.name.startswith("MySQL 8.0")
        assert description.changed(other).database.log.syncs_per_group == syncs


def test_uncertain_settings_have_their_spread() -> None:
    (row,) = [
        row for row in read_description(f"{POSTGRESQL}, clients in the same zone").rows if "round_trip" in row.key
    ]
    assert (row.factor, row.uncertain) == (1.6, True)
    (row,) = [row for row in read_description(f"{POSTGRESQL}, round trip 0.2 ms").rows if "round_trip" in row.key]
    assert not row.uncertain
    (row,) = [row for row in read_description(f"{POSTGRESQL}, empty drive").rows if "filled" in row.key]
    assert row.others == ("machine.disks.disk.filled_fraction=0.2",)


def test_the_table_names_what_it_sets_and_means_what_it_matches() -> None:
    for pattern in (*patterns(), *disk_terms()):
        form = pattern.form
        used = {of[1:-1] for of in (*form.says.values(), *form.sets.values()) if isinstance(of, str) and of[:1] == "<"}
        assert used <= set(pattern.atoms) <= ATOMS.keys(), form.form
        assert form.sets.keys() <= table()["keys"].keys(), form.form
        assert not (form.refuse and (form.says or form.sets)), form.form
        assert form.refuse or form.says or form.sets or form.driver, form.form
        assert (form.factor is None and not form.others) or form.source, form.form


def test_io_capacity_max_goes_with_io_capacity_unless_it_is_said() -> None:
    key = "database.page_cleaner.io_capacity_max_per_s"
    line = "MySQL 8.0, 8 cores, NVMe, innodb_io_capacity 10000"
    found = [value_at(read_description(line + words).scenario, key) for words in ("", ", innodb_io_capacity_max 15000")]
    assert found == [20_000, 15_000]


def test_clouds_processors_are_those_that_are_named_and_threads_of_their_cores() -> None:
    """Twin: without a name they are current ones."""
    named, clock, plain = (
        read_description(f"{words}, 32 GB, SSD").scenario.machine.cpu
        for words in ("8 vCPU, EPYC 7763", "8 vCPU at 4.5 GHz", "8 vCPU")
    )
    assert (named.model, named.cores, named.threads_per_core) == ("EPYC 7763, 2.45 GHz", 4, 2)
    assert (clock.relative_speed, plain.relative_speed) == (7.5, 5.0)
    assert {each.threads for each in (named, clock, plain)} == {8}


@pytest.mark.parametrize(("vcpus", "work"), [(2, 1.2), (3, 1.8), (4, 2.4), (7, 4.2), (8, 4.8)])
def test_each_virtual_processor_is_half_a_core(vcpus: int, work: float) -> None:
    """An odd number too; twin: whole cores would do more."""
    cpu = read_description(f"{vcpus} vCPU, 8 GB, SSD").scenario.machine.cpu
    assert cpu.threads == vcpus
    assert vcpus / slowdowns(cpu)[-1] == pytest.approx(work, rel=1e-3)
    whole = read_description(f"{vcpus} cores, 8 GB, SSD").scenario.machine.cpu
    assert vcpus / slowdowns(whole)[-1] > 1.5 * work


def test_a_host_costs_a_wake_up_and_xen_its_share_but_bare_metal_neither() -> None:
    for words, wake_us, lost in (
        ("8 cores, SSD, KVM", 10, 0), ("8 cores, SSD, Xen", 0, 0.09), ("8 cores, SSD", 0, 0),
        ("m5.metal", 0, 0), ("m5.24xlarge", 10, 0),
    ):  # fmt: skip
        machine = read_description(words).scenario.machine
        assert (machine.cpu.wake_us, machine.hardware_share_lost) == (wake_us, lost)


def test_data_in_memory_fit_there() -> None:
    """A quarter of the memory, or most of the pool; twin: without the words data are as large as the memory."""
    for line, most_gib in (("8 cores, 64 GB, SSD", 32), ("MySQL 8.0, sysbench, 8 cores, 64 GB, SSD, pool 2 GB", 2)):
        inside, outside = (read_description(line + words).scenario for words in (", in memory", ""))
        gib = [each.workload.file_pages * each.database.page_kib / 2**20 for each in (inside, outside)]
        assert gib[0] < most_gib
        assert gib[1] > 60


def test_a_disk_in_memory_waits_for_nothing() -> None:
    """One client's durable commits, on a cloud machine too; twin: a volume's flush holds them up."""
    line = "Standard_E16as_v6, PostgreSQL 18, pgbench, scale 10, 1 client, "
    memory, volume = (read_description(line + disk).scenario for disk in ("RAM disk", "Premium SSD 200 GiB"))
    rates = [simulate(build(each), 1).transactions_per_s for each in (memory, volume)]
    assert rates[0] > 3 * rates[1]
    assert memory.machine.volume_limits == ()
