"""Scenario files: those that come with the program, and one's own."""

from scenarios.library.files import checked, library, load, read, scenario_path

__all__ = ["checked", "library", "load", "read", "scenario_path"]
