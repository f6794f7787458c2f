"""Evidence: run records and their importers, fits, predictions, what judges them, and the pool of their workers."""
