"""Which numbers of a scenario its rate depends on: one at a time (tornado), or all at once (Sobol's indices)."""
