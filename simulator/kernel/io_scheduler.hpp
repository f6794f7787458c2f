// The operating system's disk schedulers before a drive: first come first served, LOOK, C-LOOK, and Linux's deadline.
//
// Two heaps hold what lies ahead of the arm and what lies behind it. Behind, LOOK negates bytes and order of arrival:
// on the way back the highest byte comes first, and of equal ones the last that came. C-LOOK starts over at the lowest
// byte: then the heaps change places. A request at the byte that was fed last lies ahead of an arm on its way up.
//
// Deadline: a C-LOOK for reads and one for writes, served in batches; so many batches of reads go before one of writes
// (block/deadline-iosched.c of Linux 2.6: fifo_batch, writes_starved; its expiry of single requests is left out).
#pragma once
#include "device.hpp"

namespace oltpsim {

using DiskOrder = form::Scheduler;

class Elevator {
public:
    using Kind = DiskOrder;

    explicit Elevator(Kind kind) : kind(kind) {}

    bool empty() const { return count == 0; }
    bool has_ahead() const { return !ahead.empty(); }

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

class IoScheduler {
public:
    explicit IoScheduler(DiskOrder order)
        : is_deadline(order == DiskOrder::deadline),
          reads(is_deadline ? DiskOrder::c_look : order),
          writes(DiskOrder::c_look) {}

    bool empty() const { return reads.empty() && writes.empty(); }

    // `order`: how many requests have come to the device.
    void add(Requests& requests, i32 number, i64 order) {
        const bool apart = is_deadline && requests[number].transfer != Transfer::read;
        (apart ? writes : reads).add(requests, number, order);
    }

    // The request that the drive gets next.
    i32 take(Requests& requests) {
        if (!is_deadline) return reads.take(requests);
        Elevator* from = writing ? &writes : &reads;
        if (batched == BATCH || !from->has_ahead()) {
            writing = reads.empty() || (!writes.empty() && read_batches == BATCHES_AHEAD);
            read_batches = writing || writes.empty() ? 0 : read_batches + 1;
            batched = 0;
            from = writing ? &writes : &reads;
        }
        batched++;
        return from->take(requests);
    }

private:
    static constexpr i64 BATCH = 16;         // requests of a batch: fifo_batch
    static constexpr i64 BATCHES_AHEAD = 2;  // of reads before one of writes that wait: writes_starved

    const bool is_deadline;
    Elevator reads, writes;  // `reads` has all requests unless they are kept apart
    i64 batched = BATCH;     // requests of the present batch
    i64 read_batches = 0;    // since writes wait
    bool writing = false;
};

}  // namespace oltpsim
