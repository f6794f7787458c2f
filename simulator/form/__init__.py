"""What engines run, as arrays with names: programs, stations, devices, samplers, simulated time."""

from oltpsim.simulator.form.arrays import BoolArray, FloatArray, IntArray, StructuredArray, ranks
from oltpsim.simulator.form.assembler import Assembler, Label
from oltpsim.simulator.form.clock import FS_PER_PS, NS_PER_MS, NS_PER_S, NS_PER_US, PS_PER_NS, PS_PER_S, from_s, to_s
from oltpsim.simulator.form.daemon import (
    ENDLESS_PAGES,
    NEVER_BYTES,
    NEVER_NS,
    TIMED,
    Daemon,
    DaemonStep,
    LeadInMarks,
    check_daemons,
    clean_tail_pages,
    kept_dirty_pages,
    lead_in_marks,
)
from oltpsim.simulator.form.device import DeviceRecord
from oltpsim.simulator.form.devices import Storage
from oltpsim.simulator.form.disk import PATIENCE_NS, CachingDevice, RotatingDevice
from oltpsim.simulator.form.flash import FlashDevice
from oltpsim.simulator.form.flushing import Flushing
from oltpsim.simulator.form.io_wait import IO_WAIT_SHARE_BITS, io_wait_shares
from oltpsim.simulator.form.limiters import ALL_VOLUMES, Limiters, limits_on, minutes_of_credits
from oltpsim.simulator.form.limits import Controllers, RateLimit
from oltpsim.simulator.form.placement import Extent, extent_of
from oltpsim.simulator.form.printing import listing
from oltpsim.simulator.form.program import (
    CODES,
    DISTRIBUTION_KINDS,
    OPERATION_WIDTH,
    OPERATIONS,
    REFERENCE_KINDS,
    WITH_INDEX_PAGE,
    Program,
    RegionRow,
)
from oltpsim.simulator.form.raid import RaidSet
from oltpsim.simulator.form.run import SeededRun, run_of
from oltpsim.simulator.form.samplers import CUT_ONE, alias_pmf, cut_of
from oltpsim.simulator.form.ssd import FLASH_PAGE_BYTES, SECTOR_BYTES, SsdDevice
from oltpsim.simulator.form.start_state import POOL_COLUMNS, StartState
from oltpsim.simulator.form.streams import ZIGGURAT_DENSITIES, ZIGGURAT_EDGES, ZIGGURAT_LAYERS, seed_streams, uniforms
from oltpsim.simulator.form.sums import matrix_product, weighted_sum
from oltpsim.simulator.form.system import (
    JOURNAL_BYTES,
    MOST_FILES,
    MOST_PAGES_A_PAUSE,
    MOST_USAGE,
    OLD_PERCENT,
    UNPACED,
    Costs,
    Cpu,
    FairQueueing,
    Interrupts,
    Interval,
    Log,
    OnProgress,
    PageCache,
    Pool,
    Progress,
    Reclaim,
    Section,
    Sharing,
    Station,
    System,
    Terminals,
    Work,
    Writing,
)
from oltpsim.simulator.form.system_file import load, save
from oltpsim.simulator.form.units import GIB, KIB, MIB, PPM
