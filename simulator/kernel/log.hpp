// The transaction log: a group flush for all who wait (durable), or bytes that are left to the operating system.
// What a flush is made of is explained in simulator/reference/log.py.
#pragma once
#include "devices.hpp"
#include "interpreter.hpp"
#include "io_wait.hpp"
#include "story.hpp"

namespace oltpsim {

class Log : Parts {
public:
    form::LogCounters counters{};

    // `logger`: the task that flushes; the one behind it does the other writes of a log that is flushed at once.
    Log(const Parts& parts, i32 logger)
        : Parts(parts),
          rules(system.log),
          page_cache(interpreter.page_cache),
          first{{logger, calendar}, 0, rules.at_once ? 1 : writes()},
          second{{logger + 1, calendar}, 1, writes()} {
        for (Flusher* const flusher : {&first, &second}) flusher->process.live(flush(*flusher));
    }

    // Logs a commit; true if the task has to wait until it is rules.durable. Nothing to log: no wait.
    bool commit(i32 who, i64 bytes) {
        if (bytes == 0) return false;
        counters.commits++;
        if (!rules.at_once) first.bytes += bytes;
        if (!rules.durable) return false;
        tasks[who].stage = Stage::committing;
        first.waiting.add(tasks, who);
        first.waiting_bytes += bytes;
        start(first);
        return true;
    }

    // Takes what is to be flushed at once; nobody waits for it.
    void hand_over(i64 bytes) {
        if (bytes == 0) return;  // a round with nothing to write would hold up the next one
        first.bytes += bytes;
        start(first);
    }

    // A flusher's event: it goes on to its next wait.
    void wake(i32 who) { (who == first.process.who ? first : second).process.wake(); }

    // Writes what is pending and nobody waits for, at the end of the log, which is a ring.
    void write_pending() {
        if (first.bytes > 0) append(0, std::exchange(first.bytes, 0), NOBODY);
    }

private:
    // Who flushes, and which of a group's writes it does.
    struct Flusher {
        Process process;
        const i64 begin, end;
        Line waiting{};
        i64 waiting_bytes = 0;  // of commits that wait, unless they have a flush behind them
        i64 bytes = 0;          // pending
        bool is_at_work = false;
    };

    const form::Log& rules;
    PageCache& page_cache;

    Flusher first, second;
    i64 position = 0;

    i64 writes() const { return rules.writes_per_group + rules.journal_writes; }

    void start(Flusher& flusher) {
        if (flusher.is_at_work) return;
        flusher.is_at_work = true;
        calendar.urgently(EventKind::task, flusher.process.who);
    }

    // All who wait when a write begins share it, those too who came during the flush's overhead; later ones share the
    // next.
    Story flush(Flusher& flusher) {
        Process& process = flusher.process;
        while (true) {
            while (!flusher.waiting.empty() || flusher.bytes > 0) {
                co_await process.timeout(rules.flush_overhead_ns);
                const i32 group = std::exchange(flusher.waiting.first, NONE);
                const i64 waited_bytes = std::exchange(flusher.waiting_bytes, 0);
                const i64 bytes = std::exchange(flusher.bytes, 0);
                io_wait.change(1);
                for (i64 number = flusher.begin; bytes > 0 && number < flusher.end; number++) {
                    append(number, bytes, process.who);
                    co_await process.woken();
                }
                io_wait.change(-1);
                end_group(flusher, group, waited_bytes);
            }
            flusher.is_at_work = false;
            co_await process.woken();
        }
    }

    // All who shared a flush, the first of whom is `group`, go on, or to the writes that are left.
    void end_group(const Flusher& flusher, i32 group, i64 waited_bytes) {
        if (flusher.end == writes()) {
            for (i32 who = group; who != NONE; who = tasks[who].next) calendar.at_once(EventKind::task, who);
            return;
        }
        if (group == NONE) return;
        for (i32 who = group; who != NONE;) {
            const i32 next = tasks[who].next;
            second.waiting.add(tasks, who);
            who = next;
        }
        second.bytes += waited_bytes;
        start(second);
    }

    // Write `number` of a group. What goes into a file that grows is durable with the journal's blocks behind it.
    void append(i64 number, i64 group_bytes, i32 who) {
        const bool in_journal = number >= rules.writes_per_group;
        const i64 bytes = in_journal ? form::JOURNAL_BYTES : group_bytes;
        const bool synced = rules.durable && (rules.journal_writes == 0 || number != rules.writes_per_group - 1);
        const form::Storage& storage = system.storage;
        const i64 byte = storage.log_start_bytes + position % storage.log_bytes;
        position += bytes;
        counters.written_bytes += bytes;
        counters.flushes++;
        devices.submit(static_cast<i32>(storage.log_device), byte, bytes, Transfer::write, Use::log, who, synced);
        page_cache.append_log(bytes);
    }
};

}  // namespace oltpsim
