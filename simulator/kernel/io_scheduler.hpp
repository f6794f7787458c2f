// The operating system's disk schedulers before a drive: first come first served, LOOK and C-LOOK.
//
// Two heaps hold what lies ahead of the arm and what lies behind it. Behind, LOOK negates bytes and order of arrival:
// on the way back the highest byte comes first, and of equal ones the last that came. C-LOOK starts over at the lowest
// byte: then the heaps change places. A request at the byte that was fed last lies ahead of an arm on its way up.
#pragma once
#include "device.hpp"

namespace oltpsim {

class IoScheduler {
public:
    enum class Kind : i64 { fcfs, look, c_look };

    explicit IoScheduler(Kind kind) : kind(kind) {}

    bool empty() const { return count == 0; }

    // `order`: how many requests have come to the device.
    void add(Requests& requests, i32 number, i64 order) {
        const i64 byte = requests[number].byte;
        count++;
        if (kind == Kind::fcfs) {
            requests.line_up(line, number);
        } else if (kind == Kind::c_look) {
            push(byte >= last_byte ? ahead : behind, {byte, order, number});
        } else if (byte > last_byte || (upwards && byte == last_byte)) {
            push(ahead, {byte, order, number});
        } else {
            push(behind, {-byte, -order, number});
        }
    }

    // The request that the drive gets next.
    i32 take(Requests& requests) {
        count--;
        if (kind == Kind::fcfs) return requests.take(line);
        if (kind == Kind::c_look) {
            if (ahead.empty()) std::swap(ahead, behind);
            return pop(ahead);
        }
        if ((upwards ? ahead : behind).empty()) upwards = !upwards;
        return pop(upwards ? ahead : behind);
    }

private:
    struct Waiting {
        i64 key, order;
        i32 number;

        static bool later(const Waiting& a, const Waiting& b) {
            return a.key != b.key ? a.key > b.key : a.order > b.order;
        }
    };

    Kind kind;
    i64 count = 0;
    RequestLine line;
    Array<Waiting> ahead, behind;
    bool upwards = true;
    i64 last_byte = 0;

    void push(Array<Waiting>& heap, Waiting request) {
        heap.add(request);
        std::push_heap(heap.begin(), heap.end(), Waiting::later);
    }

    i32 pop(Array<Waiting>& heap) {
        std::pop_heap(heap.begin(), heap.end(), Waiting::later);
        const Waiting first = heap.back();
        heap.remove_last();
        last_byte = std::abs(first.key);
        return first.number;
    }
};

}  // namespace oltpsim
