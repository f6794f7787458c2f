"""What is simulated: machine, operating system, database, workload, and the catalogue of known ones."""
