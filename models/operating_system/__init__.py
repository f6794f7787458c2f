"""The operating system: page cache, write-back, swap, CPU per call."""

from oltpsim.models.operating_system.io_scheduler import fair_queueing_of
from oltpsim.models.operating_system.operating_system import OperatingSystemSpec
from oltpsim.models.operating_system.page_cache import flusher_of, page_cache_of, write_back_of
