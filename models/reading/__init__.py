"""Scenario files and descriptions: reading, checking, the schema."""
