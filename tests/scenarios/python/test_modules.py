"""Nothing heavy is loaded before it is needed."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_the_import_is_light() -> None:
    code = "import oltpsim, sys; print(*{'numpy', 'scipy', 'pydantic', 'plotly', 'rich', 'typer'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
