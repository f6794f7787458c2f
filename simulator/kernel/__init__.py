"""The kernel: the compiled engine."""
