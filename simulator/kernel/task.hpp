// Tasks: clients and daemons. Each does one thing at a time, and waits in one line at most.
#pragma once
#include "records.hpp"

namespace oltpsim {

// What a task's next event means.
enum class Stage : u8 {
    starting,
    thinking,
    arriving,          // waits for a transaction to do
    queueing,          // in the line of a station
    served,            // by a station
    sliced,            // by a processor, until its time slice is over
    section_queueing,  // in the line of a critical section
    section_handover,  // woken up to be the next inside
    call_queueing,     // waits for one of a file's descriptors
    reading,
    doubling_victim,  // its copy is written
    writing_victim,
    swapping_in,
    locking,
    committing,
    page_wait,           // somebody else is bringing the page in, or no buffer is free
    awaiting_log_space,  // a commit whose log is too far ahead of the pages on the disks
    throttled,           // too many dirty pages in the page cache
    on_network,
    timed,  // the source of arrivals
    stopped,
};

using form::Activity;
constexpr int ACTIVITIES = form::ACTIVITY_COUNT;

enum class Purpose : u8 { cpu, section, station, interrupt, daemon };  // of a service

// Four cache lines; every event of a task reads the first one.
struct alignas(64) Task {
    // The wait
    Stage stage = Stage::starting;
    Stage call = Stage::starting;    // while it waits for a descriptor: what the call is for
    Purpose purpose = Purpose::cpu;  // of the service
    bool keeps_locks = false;        // the log's answer doesn't release them
    i32 next = NONE;                 // in a line
    i32 station = 0;
    i32 target = NONE;  // the page that is read or written, the slot that is swapped in, the lock
    i64 wait_began_ns = 0;
    i64 queued_ns = 0;  // time in the line of a station; while it waits there, less the instant it came
    i64 service_ns = 0;
    i64 began_ns = 0;  // of the transaction

    // The program
    i32 operation = 0;  // number of the next one
    i32 transaction_class = 0;
    i32 page = NONE;        // that it is about to refer to
    i32 index_page = NONE;  // above it, to be read before
    i64 user_ns = 0;        // CPU demand that isn't paid
    i64 system_ns = 0;
    i64 client_ns = 0;
    i64 log_bytes = 0;
    i32 victim = NONE;             // slot that it has waited for
    bool creates_page = false;     // nothing has to be read
    bool has_fetched : 1 = false;  // the page has come for this task
    bool has_waited : 1 = false;   // for a free buffer, which it hasn't taken
    bool rolled_back : 1 = false;
    bool is_to_pause : 1 = false;             // it has written pages into a page cache with many dirty ones
    u8 unpaid_pages = 0;                      // so many
    u8 file = 0;                              // that it has written to last
    i32 first_lock = NONE, last_lock = NONE;  // that it holds, in order
    i64 locks_held = 0;

    // The transaction
    i64 spent_ns[ACTIVITIES] = {};
    i64 main_done = 0;  // transactions of the main class that have ended
    i64 message = 0;    // of the arrival: terminal and class
    i64 hold_ns = 0;    // CPU time inside a critical section
    i64 left_ns = 0;    // CPU time of the burst after the present time slice
    i32 section = 0;
    i32 last = NONE;  // of the list that this task is the first of

    i64& spent(Activity activity) { return spent_ns[static_cast<int>(activity)]; }
};

static_assert(sizeof(Task) == 256);

using Tasks = Array<Task>;

// A line: first come, first served.
struct Line {
    i32 first = NONE, last = NONE;

    bool empty() const { return first == NONE; }

    void add(Tasks& tasks, i32 task) {
        tasks[task].next = NONE;
        if (first == NONE)
            first = task;
        else
            tasks[last].next = task;
        last = task;
    }

    void add_in_front(Tasks& tasks, i32 task) {
        tasks[task].next = first;
        if (first == NONE) last = task;
        first = task;
    }

    i32 take(Tasks& tasks) {
        const i32 task = first;
        first = tasks[task].next;
        return task;
    }
};

// Tasks that are woken together, in the order in which they came: a list known by its first one.
inline i32 joined(Tasks& tasks, i32 first, i32 task) {
    tasks[task].next = NONE;
    if (first == NONE) {
        tasks[task].last = task;
        return task;
    }
    tasks[tasks[first].last].next = task;
    tasks[first].last = task;
    return first;
}

}  // namespace oltpsim
