"""TPC-C: its tables, rows, transactions and clients."""
