// Requests of the file that have no reply yet: reads and writes, and flushes behind writes.
#pragma once
#include <deque>
#include <vector>

#include "array.hpp"
#include "fuse.hpp"

namespace oltpsim {

struct PendingRequest {
    fuse_req_t request = nullptr;  // null once it has been replied to
    bool writes = false;
    i64 order = 0;           // of arrival, among requests and flushes
    i64 size_bytes = 0;      // written
    std::vector<char> data;  // read
};

class PendingRequests {
public:
    i32 add(fuse_req_t request, bool writes, i64 order) {
        if (free.empty()) {
            free.push_back(static_cast<i32>(slots.size()));
            slots.emplace_back();
        }
        const i32 number = free.back();
        free.pop_back();
        PendingRequest& pending = (*this)[number];
        pending.request = request;
        pending.writes = writes;
        pending.order = order;
        if (writes) writes_pending++;
        return number;
    }

    PendingRequest& operator[](i32 number) { return slots[static_cast<std::size_t>(number)]; }
    i64 writes_without_reply() const { return writes_pending; }

    // Sends the reply of a request, unless it has got one.
    void reply(i32 number) {
        PendingRequest& pending = (*this)[number];
        if (pending.request == nullptr) return;
        if (pending.writes) {
            writes_pending--;
            fuse_reply_write(pending.request, static_cast<std::size_t>(pending.size_bytes));
        } else {
            fuse_reply_buf(pending.request, pending.data.data(), pending.data.size());
        }
        pending.request = nullptr;
        if (pending.data.capacity() > KEPT_BYTES) std::vector<char>().swap(pending.data);
    }

    // A request that has failed, and whoever sent it knows.
    void forget(i32 number) {
        if ((*this)[number].writes) writes_pending--;
        (*this)[number].request = nullptr;
        release(number);
    }

    // Its number may be another request's from now on.
    void release(i32 number) { free.push_back(number); }

    // Calls `act` with the number of each request that waits for its reply.
    template <class Act>
    void for_each(Act act) {
        for (i32 number = 0; number < static_cast<i32>(slots.size()); number++)
            if ((*this)[number].request != nullptr) act(number);
    }

private:
    static constexpr std::size_t KEPT_BYTES = 1 << 16;  // of a buffer, for the next request

    std::deque<PendingRequest> slots;
    std::vector<i32> free;
    i64 writes_pending = 0;
};

// Flushes: each waits for the writes that came before it, then takes its own time, one after the other.
class PendingFlushes {
public:
    explicit PendingFlushes(i64 flush_ns) : flush_ns(flush_ns) {}

    void add(fuse_req_t request, i64 order, i64 writes_awaited, i64 now_ns) {
        waiting.push_back({request, order, writes_awaited});
        begin_those_ready(now_ns);
    }

    void write_ends(i64 order, i64 now_ns) {
        for (Flush& flush : waiting)
            if (order < flush.order) flush.writes_awaited--;
        begin_those_ready(now_ns);
    }

    i64 next_ns() const { return running.empty() ? INT64_MAX : running.front().due_ns; }

    // Replies to flushes that are done before an instant; calls `done(instant)` for each.
    template <class Done>
    void advance(i64 now_ns, Done done) {
        while (next_ns() < now_ns) {
            fuse_reply_err(running.front().request, 0);
            done(running.front().due_ns);
            running.pop_front();
        }
    }

    void reply_to_all() {
        for (const Flush& flush : waiting) fuse_reply_err(flush.request, 0);
        for (const RunningFlush& flush : running) fuse_reply_err(flush.request, 0);
        waiting.clear();
        running.clear();
    }

private:
    struct Flush {
        fuse_req_t request;
        i64 order;
        i64 writes_awaited;
    };
    struct RunningFlush {
        fuse_req_t request;
        i64 due_ns;
    };

    const i64 flush_ns;
    i64 last_due_ns = 0;
    std::deque<Flush> waiting;  // in order of arrival: an earlier one never waits for more writes
    std::deque<RunningFlush> running;

    void begin_those_ready(i64 now_ns) {
        while (!waiting.empty() && waiting.front().writes_awaited == 0) {
            last_due_ns = std::max(last_due_ns, now_ns) + flush_ns;
            running.push_back({waiting.front().request, last_due_ns});
            waiting.pop_front();
        }
    }
};

}  // namespace oltpsim
