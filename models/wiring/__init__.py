"""From a scenario to what engines run."""

from oltpsim.models.wiring.cluster import cluster_faults
from oltpsim.models.wiring.failover import RECOVERED, failover_of
from oltpsim.models.wiring.file_layout import by_table, most_pages
from oltpsim.models.wiring.memory import memory_plan, most_buffers
from oltpsim.models.wiring.notes import pages_not_logged, scenario_error, scenario_remarks, unmeasured_threads
from oltpsim.models.wiring.sampling import even_fraction, folded, response_s, sample_of, sampling_faults, turnover_s
from oltpsim.models.wiring.start import start_faults
from oltpsim.models.wiring.system import LOG_AREA_BYTES, build, machine_model
