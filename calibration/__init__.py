"""Evidence: run records and their importers, fitting, identifiability, validation."""
