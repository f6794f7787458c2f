"""Print the share of lines and branches that the tests take, by package, and hold it against the floors.

    python .ci/coverage_floor.py            # after `coverage run`: fails if a package is below its floor
    python .ci/coverage_floor.py --raise    # floors become what was measured last, where that is more

A floor is a percentage of statements and branches together, in .ci/coverage_floor.json.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FLOORS = ROOT / ".ci" / "coverage_floor.json"
MEASURED = ROOT / "out" / "coverage"
REPORT = MEASURED / "report.json"
MARGIN, MARGIN_LINES = 1.0, 3
"""Points and lines by which two measurements may differ: which worker of a sweep is first, how often progress comes."""
COLUMNS = "{:<32}{:>12}{:>10}{:>8}{:>8}"


def main() -> None:
    report()
    shares = percentages(json.loads(REPORT.read_text())["files"])
    floors: dict[str, float] = json.loads(FLOORS.read_text())
    packages = sorted(shares)
    print(COLUMNS.format("package", "statements", "branches", "taken", "floor"))
    for name in packages:
        counts, taken = shares[name]
        floor = floors.get(name, 0.0)
        print(COLUMNS.format(name, counts["num_statements"], counts["num_branches"], f"{taken:.1f}%", f"{floor:.1f}%"))
    if "--raise" in sys.argv:
        raised = {name: max(floors.get(name, 0.0), math.floor(10 * floor_of(*shares[name])) / 10) for name in packages}
        FLOORS.write_text(json.dumps(raised, indent=1) + "\n")
        return
    if new := set(packages) - set(floors):
        sys.exit(f"no floor yet: {', '.join(sorted(new))}. Run `make test COVERAGE=yes` and `make coverage-floor`.")
    below = [name for name in packages if shares[name][1] < floors[name]]
    if below:
        sys.exit(
            f"below the floor: {', '.join(below)}. Write the tests that are missing; out/coverage/html shows where."
        )


def report() -> None:
    """Bring the processes' measurements together, if there are new ones, and write report.json and html/."""
    coverage = [sys.executable, "-m", "coverage"]
    if any(MEASURED.glob("data.*")):
        subprocess.run([*coverage, "combine", "--quiet"], cwd=ROOT, check=True)
    subprocess.run([*coverage, "json", "--quiet", "-o", str(REPORT)], cwd=ROOT, check=True)
    subprocess.run([*coverage, "html", "--quiet", "-d", str(MEASURED / "html")], cwd=ROOT, check=True)


def percentages(files: dict[str, dict[str, dict[str, int]]]) -> dict[str, tuple[Counter[str], float]]:
    """Counts and percentage of every room of the packages."""
    rooms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for name, file in files.items():
        rooms["/".join(Path(name).parts[:2]) if len(Path(name).parts) > 2 else Path(name).parts[0]].update(
            file["summary"]
        )
    return {name: (counts, share(counts)) for name, counts in rooms.items() if counts["num_statements"]}


def floor_of(counts: Counter[str], taken: float) -> float:
    """Floor that a measured percentage gives."""
    return taken - MARGIN - 100.0 * MARGIN_LINES / (counts["num_statements"] + counts["num_branches"])


def share(counts: Counter[str]) -> float:
    whole = counts["num_statements"] + counts["num_branches"]
    return 100.0 * (counts["covered_lines"] + counts["covered_branches"]) / whole


if __name__ == "__main__":
    main()
