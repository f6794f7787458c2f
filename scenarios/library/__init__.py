"""Scenario files: those that come with the program, and one's own."""

from scenarios.library.files import (
    ScenarioLoader,
    library_files,
    load_scenario_file,
    read_scenario_file,
    scenario_from_keys,
    scenario_loader,
    scenario_path,
)
