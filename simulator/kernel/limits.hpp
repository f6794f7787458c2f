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
//
// With slices (Linux's block/blk-throttle.c) what comes back within a slice is there at its beginning: the clocks count
// from the beginnings of slices, and a request waits for that of the slice in which the clocks let it start.
#pragma once
#include <algorithm>

#include "records.hpp"

namespace oltpsim {

using form::Direction;

// A rate limit and its clocks.
struct Limiter : form::RateLimit {
    i64 next_ps = 0;
    // time for which it would have held the next request; with slices, in which what was taken comes back
    i64 closed_ps = 0;
    i64 out_since_ns = NEVER;  // when credits first ran out

    static constexpr i64 NEVER = -1;

    // The beginning of the slice that a time lies in.
    i64 slice_start_ps(i64 ps) const { return slice_ps == 1 ? ps : ps - ps % slice_ps; }
    i64 refilled_ps() const { return slice_start_ps(std::max<i64>(full_at_ps - refill_ps, 0)); }
    i64 closed_for_ps(i64 start) const { return std::max<i64>(std::max(next_ps, refilled_ps()) - start, 0); }
    // Time in which so many units come back: at the sustained rate once credits are gone.
    i64 comes_back_ps(i64 units, i64 start) const {
        const i64 each_fs = refill_ps > 0 && refilled_ps() >= slice_start_ps(start) ? sustained_fs : burst_fs;
        return (units * each_fs + 500) / 1000;
    }
};

class Limits {
public:
    explicit Limits(const form::System& system) {
        for (const form::RateLimit& limit : system.limiters.limits) limiters.add({limit});
    }

    const Array<Limiter>& all() const { return limiters; }

    // Whether one of these limiters counts only reads, or only writes.
    bool any_one_way(Range range) const {
        for (i64 i = range.first; i < range.end; i++)
            if (limiters[i].direction != Direction::both) return true;
        return false;
    }

    // How long, ns, a request that comes now has to wait for those of a range of limiters that `count` it
    // (a function of a direction); it takes its credits.
    template <typename Counts>
    i64 admit(Range range, i64 size_bytes, i64 now_ns, Counts counts) {
        const i64 now_ps = now_ns * form::PS_PER_NS;
        i64 start = now_ps;
        for (i64 i = range.first; i < range.end; i++)
            if (counts(limiters[i].direction)) start = std::max(start, limiters[i].slice_start_ps(limiters[i].next_ps));
        const i64 with_credits = start;
        for (i64 i = range.first; i < range.end; i++) {
            Limiter& limiter = limiters[i];
            if (!counts(limiter.direction)) continue;
            if (limiter.refilled_ps() > with_credits && limiter.out_since_ns == Limiter::NEVER)
                limiter.out_since_ns = with_credits / form::PS_PER_NS;
            start = std::max(start, limiter.refilled_ps());
        }
        for (i64 i = range.first; i < range.end; i++) {
            Limiter& limiter = limiters[i];
            if (!counts(limiter.direction)) continue;
            const i64 units = std::max<i64>((size_bytes + limiter.bytes_per_credit - 1) / limiter.bytes_per_credit, 1);
            const i64 slice = limiter.slice_start_ps(start);
            limiter.next_ps =
                std::max(limiter.next_ps, slice) + (units * limiter.burst_fs + form::FS_PER_PS / 2) / form::FS_PER_PS;
            limiter.full_at_ps = std::max(limiter.full_at_ps, slice) +
                                 (units * limiter.sustained_fs + form::FS_PER_PS / 2) / form::FS_PER_PS;
            limiter.closed_ps +=
                limiter.slice_ps > 1 ? limiter.comes_back_ps(units, start) : limiter.closed_for_ps(start);
        }
        return (start - now_ps + form::PS_PER_NS - 1) / form::PS_PER_NS;
    }

    // As above, limiters of both directions together.
    i64 admit(Range range, i64 size_bytes, i64 now_ns) {
        return admit(range, size_bytes, now_ns, [](Direction of) { return of == Direction::both; });
    }

private:
    Array<Limiter> limiters;
};

}  // namespace oltpsim
