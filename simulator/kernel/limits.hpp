// Rate limits of cloud volumes and of the instance that they hang on: when a request may start.
//
// A limiter is two virtual clocks (generic cell rate algorithm, ITU-T I.371), in whole picoseconds. `next_ps`: the
// earliest start of the next request, one burst interval behind the last. `full_at_ps`: when the bucket would be full
// if nothing more came; each credit moves it on by one sustained interval. Credits are gone when it is the bucket's
// whole refill time ahead, and a request waits until it isn't:
//
//   start = max(now, next, full_at - refill);  next = start + burst;  full_at = max(full_at, start) + sustained
//
// So from a full bucket at most 1 + credits + per_s t requests start in a time t, and 1 + burst_per_s t anyway.
#pragma once
#include <algorithm>

#include "tables.hpp"

namespace oltpsim {

struct Limiter {
    i64 bytes_per_credit;
    i64 sustained_fs;  // between two credits that come back
    i64 burst_fs;      // between two units at most
    i64 refill_ps;     // of the whole bucket
    i64 full_at_ps;
    i64 next_ps = 0;
    i64 closed_ps = 0;         // time for which it would have held the next request
    i64 out_since_ns = NEVER;  // when credits first ran out

    static constexpr i64 NEVER = -1;
};

class Limits {
public:
    explicit Limits(const Tables& system) {
        const Table& table = system["limits"];
        for (i64 i = 0; i < table.rows(); i++)
            limiters.add({table.at(i, "bytes_per_credit"), table.at(i, "sustained_fs"), table.at(i, "burst_fs"),
                          table.at(i, "refill_ps"), table.at(i, "full_at_ps")});
    }

    const Array<Limiter>& all() const { return limiters; }

    // How long, ns, a request that comes now has to wait for limiters `first` to `end` - 1; it takes its credits.
    i64 admit(i64 first, i64 end, i64 size_bytes, i64 now_ns) {
        const i64 now_ps = now_ns * PS_PER_NS;
        i64 start = now_ps;
        for (i64 i = first; i < end; i++) start = std::max(start, limiters[i].next_ps);
        const i64 with_credits = start;
        for (i64 i = first; i < end; i++) {
            Limiter& limiter = limiters[i];
            const i64 refilled = limiter.full_at_ps - limiter.refill_ps;
            if (refilled > with_credits && limiter.out_since_ns == Limiter::NEVER)
                limiter.out_since_ns = with_credits / PS_PER_NS;
            start = std::max(start, refilled);
        }
        for (i64 i = first; i < end; i++) {
            Limiter& limiter = limiters[i];
            const i64 units = std::max<i64>((size_bytes + limiter.bytes_per_credit - 1) / limiter.bytes_per_credit, 1);
            limiter.next_ps = start + (units * limiter.burst_fs + FS_PER_PS / 2) / FS_PER_PS;
            limiter.full_at_ps =
                std::max(limiter.full_at_ps, start) + (units * limiter.sustained_fs + FS_PER_PS / 2) / FS_PER_PS;
            limiter.closed_ps += std::max(limiter.next_ps, limiter.full_at_ps - limiter.refill_ps) - start;
        }
        return (start - now_ps + PS_PER_NS - 1) / PS_PER_NS;
    }

private:
    static constexpr i64 FS_PER_PS = 1000, PS_PER_NS = 1000;

    Array<Limiter> limiters;
};

}  // namespace oltpsim
