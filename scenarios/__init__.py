"""Questions about machines: library, run, questions, show, commands."""
