"""Questions: run, quick, sweep, report; the command line asks here."""
