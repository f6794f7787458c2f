"""What engines run, as arrays with names: programs, stations, devices, samplers, simulated time."""

from simulator.form.arrays import BoolArray, FloatArray, IntArray
from simulator.form.assembler import Assembler, Label
from simulator.form.clock import FS_PER_PS, NS_PER_MS, NS_PER_S, NS_PER_US, PS_PER_NS, PS_PER_S, from_s, to_s
from simulator.form.daemon import (
    ENDLESS_PAGES,
    NEVER_BYTES,
    NEVER_NS,
    TIMED,
    Daemon,
    DaemonStep,
    LeadInMarks,
    check_daemons,
    kept_dirty_pages,
    lead_in_marks,
)
from simulator.form.device import DeviceRecord
from simulator.form.devices import Storage
from simulator.form.disk import PATIENCE_NS, CachingDevice, RotatingDevice
from simulator.form.flash import FlashDevice
from simulator.form.flushing import Flushing
from simulator.form.io_wait import IO_WAIT_SHARE_BITS, io_wait_shares
from simulator.form.limiters import ALL_VOLUMES, Limiters, limits_on, minutes_of_credits
from simulator.form.limits import Controllers, RateLimit
from simulator.form.placement import Extent, extent_of
from simulator.form.popularity import SHARE_STEPS
from simulator.form.printing import listing
from simulator.form.program import (
    CODES,
    DISTRIBUTION_KINDS,
    OPERATIONS,
    REFERENCE_KINDS,
    WITH_INDEX_PAGE,
    Program,
    RegionRow,
)
from simulator.form.raid import RaidSet
from simulator.form.samplers import cut_of
from simulator.form.ssd import FLASH_PAGE_BYTES, SECTOR_BYTES, SsdDevice
from simulator.form.streams import ZIGGURAT_DENSITIES, ZIGGURAT_EDGES, ZIGGURAT_LAYERS, seed_streams
from simulator.form.system import (
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
    Section,
    Sharing,
    Station,
    System,
    Terminals,
    Work,
    Writing,
)
from simulator.form.system_file import load, save
from simulator.form.tables import Table, tables_of
from simulator.form.times import ProgramKey, SpentTimes, processor_ns_at_start, spent_times
from simulator.form.units import GIB, KIB, MIB, PPM
from simulator.form.values import Frontier, Numbers, Value, shares_of
from simulator.form.visits import ProgramReader, Touches
from simulator.form.warm_start import warm_state
from simulator.form.windows import Remembered, loaded_windows
