"""Evidence: records and importers of runs, fit, predict (another machine, the next run), judge, and their workers."""
