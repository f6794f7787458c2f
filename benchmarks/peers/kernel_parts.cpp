// Parts of the kernel without the others: its cache on a stream of pages, and the stream that its programs make.
// benchmarks/kernel_parts.py calls it.
#include <ctime>

#include "interpreter.hpp"

namespace {

using namespace oltpsim;

// Passes any wait at once; true if it was the end of a transaction. `page`: that was read, or NONE.
bool pass(Interpreter& interpreter, i32 who, const Wait& wait, i32& page) {
    BufferPool& pool = interpreter.pool;
    page = NONE;
    if (wait.kind == WaitKind::read) {
        page = wait.target;
        pool.set_busy(page, false);
    } else if (wait.kind == WaitKind::victim) {
        pool.clear_dirty(wait.target);
        pool.set_busy(wait.target, false);
    } else if (wait.kind == WaitKind::commit || wait.kind == WaitKind::release) {
        interpreter.locks.drop(who);
    }
    return wait.kind == WaitKind::end;
}

}  // namespace

// Refers to all pages in turn; returns the hits. `seconds`: CPU time of that alone.
extern "C" __attribute__((visibility("default"))) i64 count_hits(const i32* stream, i64 references, i64 pages,
                                                                 i64 capacity, i64 replacement, double* seconds) {
    Cache cache(pages, capacity, static_cast<Replacement>(replacement), false, 1);
    i64 hits = 0;
    const std::clock_t begin = std::clock();
    for (i64 i = 0; i < references; i++) {
        const i32 page = stream[i];
        if (cache.has(page)) {
            hits++;
            cache.touch(page);
            continue;
        }
        const auto [slot, victim] = cache.next_victim();
        if (victim != NONE) cache.remove(victim);
        cache.insert(page, slot);
    }
    *seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    return hits;
}

// Runs all clients, a transaction each in turn, and notes the pages that are read until there are enough.
extern "C" __attribute__((visibility("default"))) void record_reads(const form::SeededRun* run,
                                                                    const form::StartState* start, i32* stream,
                                                                    i64 references) {
    Calendar calendar;
    const i32 clients = static_cast<i32>(run->system.client_registers.rows);
    Tasks tasks(clients);
    Interpreter interpreter(Context{*run, run->system, calendar, tasks});
    interpreter.program.begin(*start);
    i32 who = 0, page = NONE;
    for (i64 found = 0; found < references;) {
        if (pass(interpreter, who, interpreter.advance(who), page)) who = (who + 1) % clients;
        if (page != NONE) stream[found++] = page;
    }
}
