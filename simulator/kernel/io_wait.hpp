// Idle processors that wait for I/O, as Linux counts them (simulator/form/io_wait.py): an integral, core-ns.
#pragma once
#include <algorithm>

#include "stations.hpp"

namespace oltpsim {

class IoWait {
public:
    IoWait(const Tables& system, const Calendar& calendar, const Stations& stations)
        : calendar(calendar), stations(stations), processors(system["stations"].at(PROCESSORS, "servers")) {
        const Table& table = system["io_wait_shares"];
        for (i64 i = 0; i < table.rows(); i++) shares.add(table.at(i, "share"));
    }

    // So many more tasks sleep in block I/O from now on, or fewer.
    void change(i64 by) {
        area = area_until(calendar.now_ns);
        asleep += by;
        since_ns = calendar.now_ns;
        busy_then = stations[PROCESSORS].busy.area_until(calendar.now_ns);
    }

    i64 area_until(i64 now_ns) const {
        const i64 busy = stations[PROCESSORS].busy.area_until(now_ns) - busy_then;
        const i64 idle = processors * (now_ns - since_ns) - busy;
        return area + (idle * shares[std::min(asleep, shares.size() - 1)] >> SHARE_BITS);
    }

private:
    static constexpr int SHARE_BITS = 12;

    const Calendar& calendar;
    const Stations& stations;
    const i64 processors;
    Array<i64> shares;  // by tasks asleep: of idle time, in 4096ths
    i64 asleep = 0;
    i64 area = 0;
    i64 since_ns = 0;
    i64 busy_then = 0;
};

}  // namespace oltpsim
