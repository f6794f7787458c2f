"""HammerDB 6's job report (`hammerdb-job-report-v1`) and the pieces that its job commands print as JSON.

Traps: I/O after the end of the test is a checkpoint, so metrics are kept inside the active window and after the
ramp-up; CPU shares don't add up to 100 because iowait is not among them.
"""

from typing import Any

from oltpsim.calibration.importers import hammerdb
from oltpsim.calibration.importers.vocabulary import moment_s
from oltpsim.calibration.records import FileReading, Meaning, MonitorSample, MonitorSamples, RecordKey, ResultRank
from oltpsim.models.input import SourceFile

KIND = "HammerDB job"
SCHEMA = "hammerdb-job-report-v1"
MOST_INTERVAL_S = 10.0
IOPS: RecordKey = ("resources", "devices", "all", "requests_per_s")


def detect(file: SourceFile) -> bool:
    """By the schema's name, or by the shape of the pieces."""
    head = file.head.lstrip()
    return head.startswith(("{", "[")) and (
        f'"{SCHEMA}"' in head
        or ('"elapsed_ms"' in head and '"ratio_pct"' in head)
        or (head.startswith("[") and "TEST RESULT : System achieved" in head)
        or (head.startswith("{") and ' tpm": {' in head[:200])
    )


def read(file: SourceFile) -> FileReading:
    """The report whole, or one piece of it. Raises InputError for keys that lack."""
    reading = FileReading(KIND, file.name, tool=hammerdb.TOOL)
    data = file.data
    if isinstance(data, list):
        hammerdb.virtual_users(file, reading, ((f"line {at} of the job", str(line)) for at, line in enumerate(data, 1)))
        return reading
    if data.get("schema") == SCHEMA:
        try:
            _report(file, reading, data)
        except (KeyError, TypeError) as error:
            file.refuse("", f"no {error}", f"the keys of {SCHEMA}", "write the report again")
        return reading
    reading.rank = ResultRank.DETAIL
    if any(isinstance(row, dict) and "elapsed_ms" in row for row in data.values()):
        hammerdb.timings(file, reading, data, "timing")
    else:
        for name, points in data.items():
            _counter(file, reading, name, list(points.items()), None)
    return reading


def _report(file: SourceFile, reading: FileReading, data: dict[str, Any]) -> None:
    job, config, result = data["job"], data["benchmark_config"], data["result"]
    hammerdb.rates(
        reading, file.number(result["nopm"], "result.nopm"), file.number(result["tpm"], "result.tpm"), "result"
    )
    users = file.number(config["virtual_users"], "virtual_users")
    if (active_users := result.get("active_virtual_users")) is not None:
        place = "benchmark_config, virtual_users"
        file.agree("virtual users", users, place, file.number(active_users, "result"), "active_virtual_users")
    hammerdb.users(reading, users, "benchmark_config")
    warehouses = file.number(config["warehouses"], "warehouses")
    reading.add("workload.warehouses", warehouses, "warehouses", "benchmark_config", "warehouses built")
    minutes = file.number(config["duration_minutes"], "duration_minutes")
    ramp = file.number(config["rampup_minutes"], "rampup_minutes")
    hammerdb.period(reading, minutes, ramp, "benchmark_config")
    reading.set_database(str(job["database"]), "job")
    reading.add_text("engine.version", str(job["release"]), "job", "release of the engine")
    _system(file, reading, data.get("system", {}))
    active = data.get("analysis_hints", {}).get("active_window", {})
    start_s, end_s = moment_s(str(active.get("start"))), moment_s(str(active.get("end")))
    if start_s is None or end_s is None:
        reading.notes.append(
            "no active window: its metrics are left out, for they may hold ramp-up and the checkpoint after"
        )
    else:
        begin_s = start_s + ramp * 60.0
        reading.window = (begin_s, min(begin_s + minutes * 60.0, end_s))
        _metrics(file, reading, data.get("metrics", {}))
    rows = {str(row["name"]): row for row in data.get("response_times", {}).get("rows", [])}
    hammerdb.timings(file, reading, rows, "response_times")
    elapsed_s = max((file.number(row["elapsed_ms"], "response_times") / 1000.0 for row in rows.values()), default=0.0)
    if elapsed_s:
        asked_s = (ramp + minutes) * 60.0
        rounding_s = 10.0 + 0.03 * asked_s
        file.agree("ramp-up and duration, s", asked_s, "benchmark_config", elapsed_s, "elapsed_ms", rounding_s)
    for series in data.get("transaction_count", {}).get("series", []):
        points = [(point["timestamp"], point["value"]) for point in series["points"]]
        _counter(file, reading, series["name"], points, reading.window)


def _system(file: SourceFile, reading: FileReading, system: dict[str, Any]) -> None:
    if "cpumodel" in system:
        reading.add_text("environment.cpu_model", str(system["cpumodel"]), "system", "processor")
    if "os_name" in system:
        reading.add_text("environment.operating_system", str(system["os_name"]), "system", "operating system")
    if "cpucount" in system:
        reading.set_cores(file.number(system["cpucount"], "cpucount"), "system", "CPUs seen")
    words = str(system.get("memory", "")).split()
    if len(words) == 2 and words[1] in ("GB", "GiB"):
        reading.add(
            "environment.memory_gib", file.number(words[0], "memory"), words[1], "system", "memory; its GB are GiB"
        )


def _metrics(file: SourceFile, reading: FileReading, metrics: dict[str, Any]) -> None:
    """Every point ends an interval that began at the one before, or 10 s before if that is far away."""
    by_time: dict[str, dict[RecordKey, float]] = {}
    for point in metrics.get("cpu_percent", []):
        by_time.setdefault(str(point["timestamp"]), {}).update(hammerdb.cpu_shares(file, point, "_pct", "metrics"))
    for point in metrics.get("iops", []):
        by_time.setdefault(str(point["timestamp"]), {})[IOPS] = file.number(point["value"], "metrics, iops")
    rows = []
    for text, values in sorted(by_time.items()):
        end_s = moment_s(text)
        if end_s is not None:
            rows.append(MonitorSample(f"metrics at {text}", values, end_s - MOST_INTERVAL_S, end_s))
    if rows:
        meanings = hammerdb.CPU_MEANINGS | {IOPS: Meaning("IOPS", 1.0, "requests of all devices per s")}
        reading.samples = MonitorSamples(tuple(rows), meanings)
        reading.notes.append("its CPU shares lack iowait and don't add up to 100 %")


def _counter(
    file: SourceFile,
    reading: FileReading,
    name: str,
    points: list[tuple[str, object]],
    window: tuple[float, float] | None,
) -> None:
    timed = [(moment_s(str(text)), file.number(value, f"{name}, {text}")) for text, value in points]
    kept = [(at, value) for at, value in timed if at is not None and (window is None or window[0] < at <= window[1])]
    where = "in the timed period" if window else "ramp-up and end with them"
    ends_s, rates, means = [at for at, _ in kept], [value for _, value in kept], f"commits per minute, {where}"
    reading.add_series("commits_per_minute", ends_s, rates, "TPM", name, means)
