"""The operating system: page cache, write-back, swap, CPU per call."""
