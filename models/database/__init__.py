"""The database engine: buffer pool, writer, checkpoint, log, locks, path lengths."""

from oltpsim.models.database.buffer_pool import OLD_BLOCKS_TIME_MS, buffer_pool_of
from oltpsim.models.database.checkpoint import checkpointer_of
from oltpsim.models.database.database import DatabaseSpec
from oltpsim.models.database.log import log_of, logged_program
from oltpsim.models.database.page_cleaner import PageCleanerSpec, flushing_of, merger_of, page_cleaners_of
from oltpsim.models.database.writer import sweeper_of, writer_of, writing_of
