// Gauges: numbers that change at instants, with their integrals over time. Sums are kept modulo 2^64.
#pragma once
#include "array.hpp"

namespace oltpsim {

struct Gauge {
    i64 value = 0;
    u64 changes = 0;  // every change times its instant, ns

    void change(i64 now_ns, i64 by) {
        value += by;
        changes += static_cast<u64>(by) * static_cast<u64>(now_ns);
    }

    // Integral from time 0 to now, units times ns.
    i64 area_until(i64 now_ns) const {
        return static_cast<i64>(static_cast<u64>(value) * static_cast<u64>(now_ns) - changes);
    }
};

// Number of customers present, with the sum of their arrival instants.
struct Population : Gauge {
    u64 since = 0;

    // A customer that arrived at `since_ns`, now or before.
    void enter(i64 since_ns) {
        change(since_ns, 1);
        since += static_cast<u64>(since_ns);
    }

    void leave(i64 now_ns, i64 since_ns) {
        change(now_ns, -1);
        since -= static_cast<u64>(since_ns);
    }

    // Ages of those present, added up, ns.
    i64 ages_at(i64 now_ns) const {
        return static_cast<i64>(static_cast<u64>(value) * static_cast<u64>(now_ns) - since);
    }
};

}  // namespace oltpsim
