// Queues: waiting for one of several equal servers.
#pragma once
#include "numbers.hpp"

namespace oltpsim {

// Probability that all servers are busy (Sakasegawa 1977, for M/M/c); `load` per server.
inline double all_busy(double load, double servers) {
    return power(clip(load, 0.0, 1.0), std::sqrt(2.0 * (servers + 1.0)) - 1.0);
}

// What keeps a closed station from serving more than it can, in services: nothing until it is all but full. Where an
// arrival finds less than a whole service left, mean-value analysis of few clients would let it.
inline double overfull(double load) { return 0.01 * power(std::min(load, 1.0), 64.0) / std::max(1.0 - load, TINY); }

// Mean wait at `rate` visits per second, of which an arrival sees the share `seen`. `left`: mean time that a service
// lasts on when somebody arrives; half the service for constant times.
inline double waiting(double seen, double service, double servers, double rate, double load, double left) {
    const double used = rate * service / servers, open = std::max(1.0 - seen * used, TINY);
    return left / servers * all_busy(seen * load, servers) / open + service / servers * overfull(used);
}

}  // namespace oltpsim
