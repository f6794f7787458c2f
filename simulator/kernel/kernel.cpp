// Stand-in for the kernel: the one function of its C interface that simulator/kernel/library.py calls first.

#include <cstdint>

#define OLTPSIM_EXPORT extern "C" __attribute__((visibility("default")))

/// Number of the interface, which is another whenever a function, an array or its order is another.
OLTPSIM_EXPORT std::int64_t oltpsim_interface_version() { return 1; }
