"""What the reader of a result must know of its scenario, though nothing is wrong with it."""

from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring.cluster import cluster_remarks
from oltpsim.models.wiring.sampling import sampling_remarks
from oltpsim.simulator.errors import SMALLER_SYSTEM, InputError
from oltpsim.simulator.results import Result

SATURATED = 0.9
"""utilisation of a disk from which on writes that needn't be slow the others down"""
FAR_MORE = 2.0
"""times as many hardware threads as a compared run had, beyond which a result is in doubt (assumption)"""
LONG_WAIT_S = 0.1
"""of a commit behind write-back at a capped volume, which Linux's throttling of write-back prevents (assumption)"""
BUSY = 0.5
"""utilisation of the log's disk from which on more log would slow commits down (assumption)"""


def scenario_error(scenario: ScenarioSpec, error: InputError) -> InputError:
    """An engine's refusal of a scenario's system, with the scenario's keys in place of the system's."""
    workload = scenario.workload
    smaller = f"give fewer {workload.unit_words} ({workload.loaded_key})"
    if workload.unit_users:
        smaller = f"simulate a share of the {workload.unit_words} (sampling_fraction)"
    text = str(error).replace("work.main_per_client", "interval.new_orders_per_client").replace(SMALLER_SYSTEM, smaller)
    return type(error)(text)


def scenario_remarks(scenario: ScenarioSpec, result: Result) -> list[str]:
    """A sentence each; nothing for a scenario that is what it seems."""
    return [
        *_idle_units(scenario),
        *_unused_round_trip(scenario),
        *_unknown_statements(scenario),
        *_texts_of_mysql(scenario),
        *_unmerged_changes(scenario),
        *_flood_of_a_warm_start(scenario, result),
        *_log_behind_write_back(scenario, result),
        *_pages_not_logged(scenario, result),
        *unmeasured_threads(scenario),
        *sampling_remarks(scenario, result),
        *cluster_remarks(scenario, result),
    ]


def _unused_round_trip(scenario: ScenarioSpec) -> list[str]:
    """A round trip that nobody makes; servers of a partitioned store make it among each other."""
    network, job = scenario.machine.network, scenario.job
    if not network.clients_on_server or not network.round_trip_us or (job and job.kind == "partitioned_store"):
        return []
    key = f"machine.network.round_trip_us: {network.round_trip_us:g} us"
    return [f"{key} change nothing while clients_on_server is true: set that to false, or take the round trip out"]


def unmeasured_threads(scenario: ScenarioSpec) -> list[str]:
    """A doubt about a machine with far more hardware threads than any that this database was compared on.

    A scenario with a measured figure has been compared itself.
    """
    database, threads = scenario.database, scenario.machine.cpu.threads
    if scenario.measured is not None or threads <= FAR_MORE * database.measured_threads:
        return []
    known = f"no run of {database.name} on more than {database.measured_threads:,} was compared"
    why = "how its latches and shared cache lines scale beyond is not known, and the rate may be much lower"
    return [f"{threads:,} hardware threads, and {known}: {why}"]


def _flood_of_a_warm_start(scenario: ScenarioSpec, result: Result) -> list[str]:
    """A warm start leaves dirty what half of the redo age does; slow disks would have less, and catch up at first."""
    flooded = any(device.utilisation >= SATURATED for device in result.devices)
    if scenario.database.page_cleaner is None or scenario.interval.start != "warm" or not flooded:
        return []
    why = (
        "pages are dirty as flushing at half of the age limit leaves them, which may be more than later, and the disks "
        "are busy"
    )
    remedy = "give a longer interval.warm_up_s, or interval.start: after_prewarm, which begins with clean pages"
    return [f"start: warm: {why}: the rate may be that of this flood; {remedy}"]


def _log_behind_write_back(scenario: ScenarioSpec, result: Result) -> list[str]:
    """A log on a volume with a cap, behind all that write-back may have there."""
    machine, database = scenario.machine, scenario.database
    limits = getattr(machine.disks.disk, "limits", ())
    per_s = min((limit.per_s for limit in limits if limit.of == "requests" and limit.direction != "read"), default=0.0)
    flooded = any(device.utilisation >= SATURATED for device in result.devices)
    if not per_s or machine.log_disk is not None or database.io != "buffered" or not flooded:
        return []
    key, pages = "operating_system.page_cache.in_flight_pages", scenario.operating_system.page_cache.in_flight_pages
    wait_s = pages / machine.disks.count / per_s
    if wait_s <= LONG_WAIT_S or database.log.commit != "durable":
        return []
    why = (
        f"the log lies on a volume of {per_s:,.0f} requests/s behind the {pages:,} pages that write-back may have there"
    )
    remedy = f"{wait_s:.2g} s for a commit; Linux throttles write-back where others wait: set {key}, as to 32"
    return [f"{why} ({key}), {remedy}"]


def _pages_not_logged(scenario: ScenarioSpec, result: Result) -> list[str]:
    """PostgreSQL without full-page writes, whose log shares a disk that is busy."""
    busy = any(device.utilisation >= BUSY for device in result.devices)
    return pages_not_logged(scenario) if busy and scenario.machine.log_disk is None else []


def pages_not_logged(scenario: ScenarioSpec) -> list[str]:
    """A doubt about TPC-C on a PostgreSQL that logs no whole pages, unless that is how a run was measured."""
    checkpoint, workload = scenario.database.checkpoint, scenario.workload
    is_on = workload.is_by_statement or (checkpoint is not None and checkpoint.full_page_writes)
    if not scenario.database.name.startswith("PostgreSQL") or is_on or scenario.measured is not None:
        return []
    on = "with them (database.checkpoint.full_page_writes) the rate may be much lower where the log's disk is busy"
    return [f"full-page writes are off, which isn't PostgreSQL's default; {on}"]


def _unknown_statements(scenario: ScenarioSpec) -> list[str]:
    """A row workload on a database of which only the time of TPC-C's transactions is known."""
    path = scenario.database.path
    if not scenario.workload.is_by_statement or path.statement_us > 0:
        return []
    whole = f"database.path.transaction_us, {path.transaction_us:g} us, which is of a TPC-C transaction"
    why = f"CPU time of a statement isn't known (database.path.statement_us): each transaction takes {whole} of many"
    remedy = "the rate may be several times too low; give statement_us, 44 us in pgbench/select-only-250"
    return [f"{why} statements: {remedy}"]


def _texts_of_mysql(scenario: ScenarioSpec) -> list[str]:
    """A driver whose statements are texts, on a database of which it isn't known what parsing one takes."""
    database, workload = scenario.database, scenario.workload
    if not workload.text_statement_us or database.page_cleaner is not None:
        return []
    parse = f"{workload.text_statement_key}, {workload.text_statement_us:g} us to parse a statement"
    unknown = f"only MySQL's was ever compared, not that of {database.name}"
    return [f"{parse}: {unknown}: where processors are busy the rate may be off by half"]


def _unmerged_changes(scenario: ScenarioSpec) -> list[str]:
    """A change buffer by buffered I/O, where nobody merges in the background."""
    cleaner = scenario.database.page_cleaner
    if cleaner is None or scenario.database.io == "direct" or not scenario.workload.put_aside_fraction:
        return []
    if not cleaner.background_merge_fraction:
        return []
    merged = cleaner.background_merge_fraction * cleaner.io_capacity_per_s
    why = f"{merged:,.4g} pages a second that InnoDB would read and change are left out (background_merge_fraction)"
    return [f"changes are put aside, and by buffered I/O they are merged only when a leaf is read: {why}"]


def _idle_units(scenario: ScenarioSpec) -> list[str]:
    workload = scenario.workload
    used = workload.units_in_use
    if used == workload.size:
        return []
    why = f"each client works for one of its own, and there are {used:,} clients"
    return [f"{used:,} of {workload.size:,} {workload.unit_words} are in use: {why}"]
