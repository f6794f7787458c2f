"""From a scenario to what engines run."""

from models.build.cluster import cluster_faults
from models.build.failover import RECOVERED, failover_of
from models.build.file_layout import by_table, most_pages
from models.build.memory import clients_of, memory_plan, most_buffers
from models.build.notes import pages_not_logged, scenario_remarks, unmeasured_threads
from models.build.sampling import folded, response_s, sample_of, sampling_faults, turnover_s
from models.build.start import start_faults
from models.build.system import LOG_AREA_BYTES, build, machine_model
