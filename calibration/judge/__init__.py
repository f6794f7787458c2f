"""How well a calibration meets runs: left-out runs, baselines, gaps, certificates."""
