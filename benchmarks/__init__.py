"""Speed, measured beside others: `python -m benchmarks` writes docs/performance.md."""
