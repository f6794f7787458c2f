"""Put the compiled libraries into the wheel and name the platform in its tag: hatchling calls this."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class LibrariesBuildHook(BuildHookInterface[Any]):
    """Libraries lie beside the sources, where an editable installation finds them too."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's signature
        """Compile; one wheel serves all versions of Python, since ctypes needs nothing of theirs."""
        subprocess.run([sys.executable, str(Path(self.root) / ".ci" / "libraries.py")], check=True)
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
