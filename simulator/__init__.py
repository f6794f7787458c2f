"""How time passes: programs, queues, caches, chance and statistics. Has never heard of a benchmark."""
