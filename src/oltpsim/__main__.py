"""`python -m oltpsim`: the command line."""

import sys

from oltpsim.scenarios.commands.cli import main

if __name__ == "__main__":
    sys.exit(main())
