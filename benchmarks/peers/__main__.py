"""Run one peer: `python -m benchmarks.peers NAME`, its model as JSON on stdin, its figures as JSON on stdout."""

import importlib
import json
import sys

json.dump(importlib.import_module(f"benchmarks.peers.{sys.argv[1]}").run(json.load(sys.stdin)), sys.stdout)
