// A volume with separate caps for reads and writes, which a request passes before it enters the volume's queue.
//
// So a write that waits for its cap takes no place that a read could have (Linux's block/blk-throttle.c keeps reads
// and writes in separate queues before the device's). Own limits first, then those of all volumes together.
#pragma once
#include "flash.hpp"

namespace oltpsim {

class ThrottledFlash : public Flash {
public:
    using Flash::Flash;

    // Whether a device has such caps.
    static bool has_caps(const Rows<Range>& stages, const Limits& limits) {
        return std::any_of(stages.begin(), stages.end(), [&](Range stage) { return limits.any_one_way(stage); });
    }

    void arrive(i32 number) override {
        requests[number].stages_passed = FIRST;
        pass_caps(number);
    }

    // A request's timer: it has waited for its caps, or is the volume's.
    void wake(i32 number) override {
        if (requests[number].stages_passed >= FIRST)
            pass_caps(number);
        else
            Flash::wake(number);
    }

private:
    // stages passed, while a request is here: above those that it counts inside
    static constexpr u8 FIRST = 16;

    void pass_caps(i32 number) {
        Request& request = requests[number];
        const Transfer transfer = request.transfer;
        const auto counts = [transfer](Direction of) {
            if (of == Direction::read) return transfer != Transfer::write;
            return of == Direction::write && transfer != Transfer::read;
        };
        while (request.stages_passed < FIRST + stages.size()) {
            const Range& stage = stages[request.stages_passed++ - FIRST];
            const i64 wait_ns = limits.admit(stage, request.size_bytes, calendar.now_ns, counts);
            if (wait_ns > 0) {
                calendar.after(wait_ns, EventKind::request, number);
                return;
            }
        }
        request.stages_passed = 0;
        Flash::arrive(number);
    }
};

}  // namespace oltpsim
