"""Run records: what was measured, checked and kept."""
