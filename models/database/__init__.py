"""The database engine: buffer pool, writer, checkpoint, log, locks, path lengths."""
