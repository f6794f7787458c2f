// Row locks: exclusive, first come first served, held to the end of the transaction.
#pragma once
#include "context.hpp"

namespace oltpsim {

struct Lock {
    i32 owner = NONE;
    i32 next_held = NONE;  // by the same owner
    Line line;
};

class Locks : Context {
public:
    form::LockCounters counters{};

    Locks(const Context& context, i64 count) : Context(context), locks(count) {}

    i64 count() const { return locks.size(); }
    i32 owner(i64 lock) const { return locks[lock].owner; }
    i32 next_held(i64 lock) const { return locks[lock].next_held; }

    void grant(i32 who, i32 lock) {
        Task& task = tasks[who];
        locks[lock].owner = who;
        locks[lock].next_held = NONE;
        if (task.first_lock == NONE)
            task.first_lock = lock;
        else
            locks[task.last_lock].next_held = lock;
        task.last_lock = lock;
        task.locks_held++;
    }

    void wait(i32 who, i32 lock) {
        tasks[who].stage = Stage::locking;
        locks[lock].line.add(tasks, who);
    }

    // A task's wait for a lock is over; returns its length, ns.
    i64 end_wait(i32 who) {
        const i64 time_ns = calendar.now_ns - tasks[who].wait_began_ns;
        counters.waits++;
        counters.waited_ns += time_ns;
        return time_ns;
    }

    // Every lock of a task goes to the one who has waited longest for it.
    void release(i32 who) {
        Task& task = tasks[who];
        for (i32 number = task.first_lock; number != NONE;) {
            Lock& lock = locks[number];
            const i32 next = lock.next_held;
            if (lock.line.empty()) {
                lock.owner = NONE;
            } else {
                const i32 waiter = lock.line.take(tasks);
                grant(waiter, number);
                calendar.at_once(EventKind::task, waiter);
            }
            number = next;
        }
        counters.acquired += task.locks_held;
        forget(task);
    }

    // As `release`, where no time passes: nobody waits, and nothing is counted.
    void drop(i32 who) {
        Task& task = tasks[who];
        for (i32 number = task.first_lock; number != NONE; number = locks[number].next_held) locks[number].owner = NONE;
        forget(task);
    }

private:
    Array<Lock> locks;

    static void forget(Task& task) {
        task.first_lock = task.last_lock = NONE;
        task.locks_held = 0;
    }
};

}  // namespace oltpsim
