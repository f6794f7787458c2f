// Idle processors that wait for I/O, as Linux counts them (simulator/form/io_wait.py): an integral, core-ns.
#pragma once
#include <algorithm>

#include "stations.hpp"

namespace oltpsim {

class IoWait : Parts {
public:
    explicit IoWait(const Parts& parts) : Parts(parts) {}

    // So many more tasks sleep in block I/O from now on, or fewer.
    void change(i64 by) {
        area = area_until(calendar.now_ns);
        asleep += by;
        since_ns = calendar.now_ns;
        busy_then = stations[PROCESSORS].busy.area_until(calendar.now_ns);
    }

    i64 area_until(i64 now_ns) const {
        const i64 busy = stations[PROCESSORS].busy.area_until(now_ns) - busy_then;
        const i64 idle = system.processors * (now_ns - since_ns) - busy;
        return area +
               (idle * run.io_wait_shares[std::min(asleep, run.io_wait_shares.size() - 1)] >> form::IO_WAIT_SHARE_BITS);
    }

private:
    i64 asleep = 0;
    i64 area = 0;
    i64 since_ns = 0;
    i64 busy_then = 0;
};

}  // namespace oltpsim
