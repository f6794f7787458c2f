"""Shapes and prices from other people's lists: one module per format, `detect` and `read` as for runs."""

from models.catalogue.importers.found import Found, Wanted
from models.catalogue.importers.importing import Written, read_list, write_entries

__all__ = ["Found", "Wanted", "Written", "read_list", "write_entries"]
