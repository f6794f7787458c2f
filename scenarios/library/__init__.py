"""Scenario files: those that come with the program, and one's own."""
