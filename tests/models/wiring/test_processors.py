"""What the processors of a scenario become: slices, quota, driver, critical sections that memory bounds."""

import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.simulator import analytic, kernel
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import CODES, System
from tests.simulator.tpcc_systems import TINY

MS = 1_000_000


def system(*settings: str) -> System:
    return build(load_scenario(TINY, list(settings)))


def operands(model: System, operation: str, column: int) -> list[int]:
    rows = model.program.operations
    return [int(each) for each in rows[rows[:, 0] == CODES[operation], column]]


@pytest.mark.parametrize(("cores", "scale"), [(1, 1), (2, 2), (3, 2), (4, 3), (8, 4), (64, 4)])
def test_time_slices_are_longer_with_more_processors(cores: int, scale: int) -> None:
    """Linux: 0.75 ms x (1 + log2 of the processors, rounded down, up to 8)."""
    model = system("operating_system.cpu.time_slice_ms=0.75", f"machine.cpu.cores={cores}")
    assert model.cpu.slice_ns == 750_000 * scale


def test_a_statement_ends_before_the_slice() -> None:
    rows = "workload.tpcc.rows_per_statement=2"
    path = (
        "database.critical_section.share_of_path=0", "database.path.row_operation_us=30",
        "operating_system.cpu.message_us=8", "machine.cpu.relative_speed=2",
    )  # fmt: skip
    assert system(rows, *path).cpu.slice_ns == (2 * 30 + 8) * 1000 // 2
    assert system(rows, *path, "operating_system.cpu.time_slice_ms=0.01").cpu.slice_ns == 10_000
    assert system(*path).cpu.slice_ns == 0


def test_a_quota_of_half_a_core() -> None:
    model = system("machine.cpu.quota_cores=0.5", "machine.cpu.cores=2")
    assert (model.cpu.quota_ns, model.cpu.quota_period_ns) == (50 * MS, 100 * MS)
    assert model.cpu.allowed_servers == 0.5
    assert system().cpu.quota_ns == 0
    with pytest.raises(InputError, match="quota_cores"):
        system("machine.cpu.quota_cores=0")


def test_half_a_core_does_half_of_a_cores_work() -> None:
    words = ["machine.cpu.cores=1", "machine.disks={disk: nvme}", "database.log.commit=buffered"]
    for engine in (kernel, analytic):
        whole, half = (
            engine.simulate(system(*words, *quota), 1).transactions_per_s
            for quota in ((), ("machine.cpu.quota_cores=0.5",))
        )
        assert half == pytest.approx(whole / 2, rel=0.05)


def test_a_driver_on_the_server_takes_its_time_from_it() -> None:
    words = ["workload.tpcc.client_us=100", "machine.cpu.relative_speed=2", "database.path.client_fraction=0"]
    assert set(operands(system(*words), "cpu", 3)) == {50_000}
    apart = system(*words, "machine.network={clients_on_server: false, source: apart}")
    assert set(operands(apart, "cpu", 3)) == {0}


@pytest.mark.parametrize("share", [0.0, 0.25])
def test_texts_of_statements_take_the_servers_time(share: float) -> None:
    """36 statements of 10 us on the reference core are 180 us at twice its speed, critical sections left out."""
    words = ("workload.tpcc.round_trips=36", "machine.cpu.relative_speed=2", "database.path.transaction_us=100")
    words = (*words, f"database.critical_section.share_of_path={share}")
    prepared, texts = (set(operands(system(*words, f"workload.tpcc.statement_us={us}"), "cpu", 1)) for us in (0, 10))
    assert prepared == {round(50_000 * (1 - share))}
    assert texts == {round(230_000 * (1 - share))}


def test_a_section_that_waits_for_memory_gets_no_faster() -> None:
    """Half of the time inside is the core's: a core four times as fast takes 1/8 + 1/2 of it, not 1/4."""

    def inside(speed: int, fraction: float) -> int:
        words = (f"machine.cpu.relative_speed={speed}", f"database.critical_section.memory_fraction={fraction}")
        return operands(system("database.critical_section.share_of_path=0.3", *words), "section", 2)[0]

    assert inside(4, 0.0) == pytest.approx(inside(1, 0.0) / 4, rel=1e-3)
    assert inside(4, 0.5) == pytest.approx(inside(1, 0.0) * (1 / 8 + 1 / 2), rel=1e-3)
    assert inside(4, 1.0) == pytest.approx(inside(1, 0.0), rel=1e-3)


@pytest.mark.parametrize("phases", [1, 4])
def test_a_transactions_own_time_varies(phases: int) -> None:
    model = system(f"database.path.transaction_phases={phases}", "database.path.transaction_us=700")
    which = set(operands(model, "work", 1))
    plain = operands(system("database.path.transaction_us=700"), "cpu", 1)
    assert len(which) == 5
    for each in which:
        assert model.program.distributions[each, 1:].tolist() == [plain[0], phases]
    assert set(operands(model, "cpu", 1)) == {0}
    assert operands(system(), "work", 1) == []
