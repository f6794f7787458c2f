"""Running scenarios: executors, progress, the store, saved runs."""
