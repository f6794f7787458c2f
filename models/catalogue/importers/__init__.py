"""Shapes and prices from other people's lists: one module per format, `detect` and `read` as for runs."""

from oltpsim.models.catalogue.importers.entries import ImportedEntries, ListFacts, shorten_list
from oltpsim.models.catalogue.importers.importing import WrittenFile, read_list, write_entries
