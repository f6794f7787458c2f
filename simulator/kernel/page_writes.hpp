// Writing of buffers, batch by batch: what the background writer and checkpoints do with a list of pages.
#pragma once
#include "write_back.hpp"

namespace oltpsim {

class PageWrites {
public:
    i64 began_ns = 0;
    Array<i32> pages;  // to be written, sorted; those that are clean when their turn comes are left out

    PageWrites(const Tables& system, i32 who, Calendar& calendar, Tasks& tasks, Devices& devices, Stations& stations,
               Interpreter& interpreter, WriteBack& write_back)
        : who(who),
          page_bytes(system.fact("page_bytes")),
          all_pages(system.fact("pages")),
          batch_pages(system.fact("batch_pages")),
          coalesced_pages(system.fact("coalesced_pages")),
          is_synced(system.fact("synced") != 0),
          is_doubled((interpreter.direct_io || is_synced) && system.fact("doubled") != 0),
          is_pushed(system.fact("pushed") != 0),
          calendar(calendar),
          tasks(tasks),
          devices(devices),
          stations(stations),
          interpreter(interpreter),
          write_back(write_back) {
        const Table& table = system["files"];
        for (i64 i = 0; i < table.rows(); i++) files.add({table.at(i, "first_page"), table.at(i, "file")});
    }

    // Begins to write `pages`, spread evenly over a time.
    void start(i64 over_ns) {
        spread_ns = over_ns;
        began_ns = calendar.now_ns;
        batch = at = written = 0;
        phase = Phase::batch;
    }

    // Goes on until the task has to wait (false) or all is written (true).
    bool run() {
        while (batch < pages.size()) {
            if (phase == Phase::batch) {
                if (at == batch) to_push.clear(), next_to_push = 0;
                if (!write_batch()) return false;
                phase = Phase::paid;
                pages_to_pause_for = pages_to_pause(written);
                if (written > 0) {
                    written += is_doubled;
                    const Costs& costs = interpreter.costs;
                    const i64 each_ns = costs.write_ns + (is_pushed ? costs.request_ns : 0);
                    const i64 demand_ns = std::exchange(written, 0) * each_ns;
                    interpreter.cpu_time.writer_ns += demand_ns;
                    stations.enter(PROCESSORS, who, demand_ns, Purpose::daemon);
                    return false;
                }
            }
            if (phase == Phase::paid && !runs.empty()) {
                phase = Phase::doubled;
                note_files();
                run_at = page_of_run = 0;
                if (is_doubled) {
                    write_copies();
                    return false;
                }
            }
            if (phase == Phase::doubled) {
                if (is_synced && !write_into_cache()) return false;
                phase = Phase::paid;
                if (!is_synced) submit_synced();
                runs.clear();
            }
            if (phase == Phase::paid) {
                if (!write_back.push(to_push, next_to_push)) {
                    write_back.wait(who, Stage::syncing);
                    return false;
                }
                phase = Phase::pushed;
                if (is_synced && !to_push.empty()) pages_synced = write_back.pages_on_their_way();
            }
            if (phase == Phase::pushed) {
                if (pages_to_pause_for > 0) {
                    tasks[who].stage = Stage::throttled;
                    calendar.after(write_back.pause_ns(std::exchange(pages_to_pause_for, 0)), EventKind::task, who);
                    return false;
                }
                phase = Phase::written;
                if (outstanding > 0) {
                    tasks[who].stage = Stage::writing;
                    return false;
                }
            }
            if (phase == Phase::written && write_back.pages_written < pages_synced) {
                write_back.wait(who, Stage::syncing);
                return false;
            }
            if (phase == Phase::written && flushed < to_flush.size()) {
                outstanding++;
                devices.flush(devices.device_of(to_flush[flushed++]), Use::writer, who);
                tasks[who].stage = Stage::writing;
                return false;
            }
            if (phase == Phase::written) {
                phase = Phase::spread;
                // In 128 bits: an hour times millions of pages is more than 64 have.
                const i64 due_ns = began_ns + static_cast<i64>(static_cast<__int128>(spread_ns) * batch / pages.size());
                if (calendar.now_ns < due_ns) {
                    tasks[who].stage = Stage::spreading;
                    calendar.after(due_ns - calendar.now_ns, EventKind::task, who);
                    return false;
                }
            }
            batch += batch_pages;
            at = batch;
            phase = Phase::batch;
        }
        return true;
    }

    // A direct write of this job is done; true if its task goes on.
    bool end_write() { return --outstanding == 0 && tasks[who].stage == Stage::writing; }

private:
    // A batch is being written; its CPU time is paid; its copies are on the disks; what it wrote into the page cache
    // has been handed on; its direct writes are done; it was spread out.
    enum class Phase : u8 { batch, paid, doubled, pushed, written, spread };

    struct Run {
        i64 first_page, pages;
    };

    struct File {
        i64 first_page, file;
    };

    static constexpr i64 AHEAD = 8;  // pages of the list that are prefetched

    const i32 who;
    const i64 page_bytes;
    const i64 all_pages;
    const i64 batch_pages;
    const i64 coalesced_pages;  // neighbours in one direct write
    const bool is_synced;       // a batch goes through the page cache, and is over when the disks have it
    const bool is_doubled;      // a batch is written twice
    const bool is_pushed;       // a batch goes from the page cache to the disks at once
    Calendar& calendar;
    Tasks& tasks;
    Devices& devices;
    Stations& stations;
    Interpreter& interpreter;
    WriteBack& write_back;

    Phase phase = Phase::batch;
    i64 spread_ns = 0;
    i64 batch = 0;               // the first page of the batch
    i64 at = 0;                  // the next page
    i64 written = 0;             // pages that aren't paid
    i64 outstanding = 0;         // direct writes
    Array<Run> runs;             // of a batch whose copies are written first, or that is synced
    i64 run_at = 0;              // the next that goes into the page cache
    i64 page_of_run = 0;         // the next of its pages
    Array<i64> last_on;          // by device, its last run, -1: none
    Array<File> files;           // by their first pages; a file may have several parts
    Array<i64> to_flush;         // of each file of the batch a page on each device where it has some
    Array<i64> flushed_files;    // those files
    i64 flushed = 0;             // of `to_flush`
    Array<i32> to_push;          // of the batch
    i64 next_to_push = 0;        // the first that isn't yet with the disks
    i64 pages_synced = 0;        // pages written back by when the disks have the batch
    i64 pages_to_pause_for = 0;  // written into a page cache with many dirty ones

    // Writes those pages of a batch that are still dirty; false if the page cache has no room for one of them now.
    bool write_batch() {
        while (at < std::min(batch + batch_pages, pages.size())) {
            const i32 page = pages[at];
            if (!interpreter.direct_io && !is_synced && is_held_up(page, interpreter.pool.is_dirty(page))) return false;
            at++;
            if (at + AHEAD < pages.size()) interpreter.prefetch(pages[at + AHEAD]);
            if (!takes_dirt(page)) continue;
            if (!interpreter.direct_io && !is_synced) {
                written++;
                write_into_cache(page);
                continue;
            }
            const Run run = with_neighbours(page);
            written += is_synced ? run.pages : 1;
            if (is_synced || is_doubled)
                runs.add(run);
            else
                submit(run);
        }
        return true;
    }

    // Whether the page cache has no room for a page now, or its file is locked for whoever writes.
    bool is_held_up(i32 page, bool is_written) {
        if (interpreter.page_cache.is_full_of_dirt()) {
            write_back.flush(calendar.now_ns, batch_pages);
            write_back.wait(who, Stage::throttled);
            return true;
        }
        const i64 wait_ns = is_written ? interpreter.page_cache.locked_ns(page, calendar.now_ns) : 0;
        if (wait_ns <= 0) return false;
        tasks[who].stage = Stage::throttled;
        calendar.after(wait_ns, EventKind::task, who);
        return true;
    }

    void write_into_cache(i32 page) {
        interpreter.page_cache.write(page, calendar.now_ns);
        if (is_pushed) to_push.add(page);
        write_back.write_evicted();
    }

    // Writes the runs into the page cache; false if there is no room for one of their pages now.
    bool write_into_cache() {
        for (; run_at < runs.size(); run_at++, page_of_run = 0) {
            const Run& run = runs[run_at];
            const i64 step = devices.extent_of(run.first_page).devices;
            for (; page_of_run < run.pages; page_of_run++) {
                const i32 page = static_cast<i32>(run.first_page + page_of_run * step);
                if (is_held_up(page, true)) return false;
                write_into_cache(page);
            }
        }
        pages_to_pause_for = pages_to_pause(to_push.size());
        return true;
    }

    // Of so many that were written, those that a pause is due for.
    i64 pages_to_pause(i64 pages_written) const {
        return !interpreter.direct_io && interpreter.page_cache.is_paced() ? pages_written : 0;
    }

    // The copies of the runs, in one request with a flush.
    void write_copies() {
        i64 copies = 0;
        for (const Run& run : runs) copies += run.pages;
        outstanding++;
        devices.submit(devices.device_of(runs[0].first_page), devices.copies_byte(copies), copies * page_bytes,
                       Transfer::write, Use::doublewrite, who, true);
        tasks[who].stage = Stage::writing;
    }

    // Writes the runs; flushes follow for each file, if the files are known, else with the last run on each device.
    void submit_synced() {
        if (!files.empty()) {
            for (const Run& run : runs) submit(run);
            return;
        }
        last_on.clear();
        for (i64 i = 0; i < devices.count(); i++) last_on.add(-1);
        for (i64 i = 0; i < runs.size(); i++) last_on[devices.device_of(runs[i].first_page)] = i;
        for (i64 i = 0; i < runs.size(); i++) submit(runs[i], last_on[devices.device_of(runs[i].first_page)] == i);
    }

    // The files of the runs, if they are known.
    void note_files() {
        to_flush.clear(), flushed_files.clear(), flushed = 0;
        if (files.empty()) return;
        for (const Run& run : runs) note_file(run.first_page);
    }

    void note_file(i64 page) {
        const auto part = std::upper_bound(files.begin(), files.end(), page,
                                           [](i64 at, const File& one) { return at < one.first_page; });
        const i64 file = (part - 1)->file;
        for (i64 i = 0; i < flushed_files.size(); i++)
            if (flushed_files[i] == file && devices.device_of(to_flush[i]) == devices.device_of(page)) return;
        flushed_files.add(file), to_flush.add(page);
    }

    void submit(const Run& run, bool synced = false) {
        outstanding++;
        devices.submit(devices.device_of(run.first_page), devices.byte_of(run.first_page), run.pages * page_bytes,
                       Transfer::write, Use::writer, who, synced);
    }

    // Dirty neighbours behind a page, then before it, go along in one request.
    Run with_neighbours(i64 page) {
        const Extent& extent = devices.extent_of(page);
        const i64 end = std::min(extent.end_page, all_pages);
        Run run{page, 1};
        while (run.pages < coalesced_pages && run.first_page + run.pages * extent.devices < end &&
               takes_dirt(run.first_page + run.pages * extent.devices))
            run.pages++;
        while (run.pages < coalesced_pages && run.first_page - extent.devices >= extent.first_page &&
               takes_dirt(run.first_page - extent.devices)) {
            run.first_page -= extent.devices;
            run.pages++;
        }
        return run;
    }

    // Whether a page is a dirty one of the pool; if so it is clean from now on.
    bool takes_dirt(i64 page) {
        BufferPool& pool = interpreter.pool;
        if (!pool.is_dirty(page)) return false;
        pool.clear_dirty(page);
        return true;
    }
};

}  // namespace oltpsim
