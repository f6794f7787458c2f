"""The database engine: buffer pool, writer, checkpoint, log, locks, path lengths."""

from models.database.database import DatabaseSpec, WriterSpec

__all__ = ["DatabaseSpec", "WriterSpec"]
