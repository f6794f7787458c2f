"""What one asks of a machine: what limits it, what more would help, how much it holds. One file a question."""
