"""Scenarios by a word: a file, a name of the library, or a line that describes a machine."""

from oltpsim.scenarios.library.files import (
    AskedScenario,
    DescriptionLoader,
    ScenarioLoader,
    asked_scenario,
    description_loader,
    is_line,
    library_files,
    load_scenario_file,
    read_scenario_file,
    scenario_from_keys,
    scenario_loader,
    scenario_path,
)
