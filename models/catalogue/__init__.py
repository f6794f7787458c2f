"""The catalogue: parts for sale, by name, with their sources and prices."""
