"""Results of runs: counters, series, laws, statistics, and what limits a machine."""
