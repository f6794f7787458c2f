"""What the equations are given: a program read once, and a machine as one row of numbers, by part."""

from oltpsim.simulator.analytic.reading.disks import QUEUES, disk_of, service_s
from oltpsim.simulator.analytic.reading.page_writes import marks_of
from oltpsim.simulator.analytic.reading.parameters import Parameters, combined, parameters_of, rows, stacked
from oltpsim.simulator.analytic.reading.volumes import (
    DATA,
    LOG,
    NO_LIMITS,
    TOGETHER,
    Places,
    Rates,
    places_of,
    sustained,
)
from oltpsim.simulator.analytic.reading.workload import Workload, read_workload, retimed, striped, transactions_key
