"""The same models for other simulators. Those in Python run in an environment of their own; see `requirements.lock`."""
