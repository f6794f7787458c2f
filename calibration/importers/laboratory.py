"""What the laboratory says of a run beside its measured series: how it began, and what the emulated machine was.

Trap: its processors are the database's own; what the host has says nothing.
"""

from oltpsim.calibration.records import FileReading
from oltpsim.models.input import SourceFile

KIND = "laboratory"
FORMAT = "oltpsim-laboratory-1"
LEAST_OWN_SPEED = 0.9
"""share of its speed that a core has while the others compute, below which it isn't the database's own"""
START = "state that the run began with"


def detect(file: SourceFile) -> bool:
    """By its format."""
    return f'"format": "{FORMAT}"' in file.head


def read(file: SourceFile) -> FileReading:
    """Start, clients and size of the run. Raises InputError for another shape."""
    reading = FileReading(KIND, file.name)
    data = file.data
    try:
        scenario = data["scenario"]
        if data["library"]:
            reading.values["scenario",] = data["library"]
        interval, workload = scenario["interval"], scenario["workload"]
        reading.add_text("window.start", interval["start"], "scenario.interval.start", START)
        lead_in = interval.get("lead_in")
        if lead_in:
            key = "transactions" if "transactions" in lead_in else "duration_s"
            target = "lead_in_transactions" if key == "transactions" else "lead_in_s"
            unit = "transactions" if key == "transactions" else "s"
            means = f"between that state and the ramp, at the speed {lead_in['speed']}"
            length = file.number(lead_in[key], f"scenario.interval.lead_in.{key}")
            reading.add(f"window.{target}", length, unit, f"scenario.interval.lead_in.{key}", means)
        warm_up_s = file.number(interval["warm_up_s"], "scenario.interval.warm_up_s")
        means = "warm-up with the clients of the run, before what is counted"
        reading.add("window.ramp_s", warm_up_s, "s", "scenario.interval.warm_up_s", means)
        size, means = (
            ("warehouses", "warehouses loaded") if "warehouses" in workload else ("scale", "100,000 accounts each")
        )
        where = f"scenario.workload.{size}"
        reading.add(f"workload.{size}", file.number(workload[size], where), size, where, means)
        clients = file.number(workload["arrivals"]["clients"], "scenario.workload.arrivals.clients")
        reading.add("workload.clients", clients, "clients", "scenario.workload.arrivals.clients", "closed clients")
        busy = ", ".join(
            f"{name} {file.number(cores, f'cores_busy.{name}'):.2f}" for name, cores in data["cores_busy"].items()
        )
        reading.notes.append(
            f"emulated by a laboratory, seed {data['seed']}; cores busy over warm-up and window: {busy}"
        )
        speeds = data.get("core_speeds_per_s", [])  # older documents have none
        if speeds:
            speed = max(file.number(each, "core_speeds_per_s") for each in speeds)
            means = "sysbench cpu, one thread where the database is, the faster of before and after"
            reading.add("environment.core_speed_per_s", speed, "events/s", "core_speeds_per_s", means)
            shared = file.number(data.get("shared_core_speed_per_s", speed), "shared_core_speed_per_s")
            if shared < LEAST_OWN_SPEED * speed:
                reading.notes.append(
                    f"the database's core computes {1 - shared / speed:.0%} less while the load generator's do: they "
                    "are threads of one core, or share its power"
                )
        for name, disk in data["disks"].items():
            before, after = disk["before"], disk["after"]
            replies = after["replies"] - before["replies"]
            late_s = (after["late_s"] - before["late_s"]) / max(replies, 1)
            if not after["has_priority"]:
                reading.notes.append(f"emulated disk {name} ran without real-time priority: other work may delay it")
            reading.notes.append(
                f"emulated disk {name}: {replies:,} replies, {1e6 * late_s:.0f} us late in the mean, at most "
                f"{1e3 * after['latest_s']:.1f} ms"
            )
    except (KeyError, TypeError, AttributeError):
        file.refuse("", "JSON of another shape", "a laboratory's document", "copy it again")
    return reading
