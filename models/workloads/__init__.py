"""Workloads: what is asked of a machine."""
