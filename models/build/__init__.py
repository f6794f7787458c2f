"""From a scenario to what engines run."""

from oltpsim.models.build.cluster import cluster_faults
from oltpsim.models.build.failover import RECOVERED, failover_of
from oltpsim.models.build.file_layout import by_table, most_pages
from oltpsim.models.build.memory import clients_of, memory_plan, most_buffers
from oltpsim.models.build.notes import pages_not_logged, scenario_remarks, unmeasured_threads
from oltpsim.models.build.sampling import folded, response_s, sample_of, sampling_faults, turnover_s
from oltpsim.models.build.start import start_faults
from oltpsim.models.build.system import LOG_AREA_BYTES, build, machine_model
