"""The laboratory: machines that a scenario describes, emulated on this host, and a real database measured on them.

Linux and root, on a machine that nothing else uses. Cores, memory and dirty limits by control groups and the kernel's
limits of devices; disks by the simulator's own devices behind FUSE; PostgreSQL and MariaDB as Debian has them; TPC-C by
a kit for sysbench. How to use it: docs/how-to/laboratory.md.
"""

from oltpsim.calibration.lab.cleaning import clean
from oltpsim.calibration.lab.emulation import emulated
from oltpsim.calibration.lab.laboratory import Laboratory
