"""The database engine: buffer pool, writer, checkpoint, log, locks, path lengths."""

from models.database.buffer_pool import buffer_pool_of
from models.database.checkpoint import checkpointer_of
from models.database.database import DatabaseSpec
from models.database.log import log_of
from models.database.writer import writer_of, writing_of
