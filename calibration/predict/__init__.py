"""What a calibration says of other machines, and which run would tell most."""
