"""From a scenario to what engines run."""

from models.build.failover import failover_of
from models.build.file_layout import by_table, most_pages
from models.build.notes import remarks
from models.build.paths import speed_of
from models.build.sampling import response_s, sample_of, turnover_s
from models.build.system import LOG_AREA_BYTES, build, clients_of, device_of, memory_plan, rate_limit_of

__all__ = [
    "LOG_AREA_BYTES",
    "build",
    "by_table",
    "clients_of",
    "device_of",
    "failover_of",
    "memory_plan",
    "most_pages",
    "rate_limit_of",
    "remarks",
    "response_s",
    "sample_of",
    "speed_of",
    "turnover_s",
]
