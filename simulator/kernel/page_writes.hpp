// Writing of buffers, batch by batch: what the background writer and checkpoints do with a list of pages.
#pragma once
#include "write_back.hpp"

namespace oltpsim {

class PageWrites : Parts {
public:
    PageWrites(const Parts& parts, Process& process)
        : Parts(parts),
          process(process),
          rules(system.writing),
          is_synced(rules.synced && !system.direct_io),
          is_doubled(rules.doubled && (system.direct_io || is_synced)),
          is_pushed((rules.pushed || is_synced) && !system.direct_io) {}

    // Writes these pages if they are dirty when it is their turn, spread evenly over a time.
    Story write(const Array<i32>& pages, i64 spread_ns) {
        const i64 began_ns = calendar.now_ns;
        for (i64 first = 0; first < pages.size(); first += rules.batch_pages) {
            co_await write_batch({pages, first, std::min(first + rules.batch_pages, pages.size())});
            // In 128 bits: an hour times millions of pages is more than 64 have.
            const i64 due_ns = began_ns + static_cast<i64>(static_cast<__int128>(spread_ns) * first / pages.size());
            if (calendar.now_ns < due_ns) co_await process.timeout(due_ns - calendar.now_ns);
        }
    }

    // A direct write is done; true if the process goes on.
    bool end_write() { return --outstanding == 0 && std::exchange(is_awaited, false); }

private:
    // Pages of a list, from one to before another.
    struct Batch {
        const Array<i32>& pages;
        i64 first, end;
    };

    struct Run {
        i64 first_page, pages;
    };

    static constexpr i64 AHEAD = 8;  // pages of the list that are prefetched

    Process& process;
    const form::Writing& rules;
    const bool is_synced;   // a batch goes through the page cache, and is over when the disks have it
    const bool is_doubled;  // a batch is written twice
    const bool is_pushed;   // a batch goes from the page cache to the disks at once

    i64 outstanding = 0;       // direct writes
    bool is_awaited = false;   // the end of the last of them
    Array<Run> runs;           // of the batch
    Array<i32> written;        // of the batch, into the page cache
    Array<i64> last_on;        // by device, its last run, -1: none
    Array<i64> to_flush;       // of each file of the batch a page on each device where it has some
    Array<i64> flushed_files;  // those files

    Story write_batch(Batch batch) {
        if (system.direct_io) return is_doubled ? write_doubled(batch) : write_direct(batch);
        return is_synced ? write_synced(batch) : write_buffered(batch);
    }

    Story write_buffered(Batch batch) {
        written.clear();
        for (i64 i = batch.first; i < batch.end; i++) {
            const i32 page = next(batch, i);
            while (is_held_up(page, interpreter.pool.is_dirty(page))) co_await room(page);
            if (takes_dirt(page)) write_into_cache(page);
        }
        if (written.empty()) co_return;
        const bool is_paused = interpreter.page_cache.is_paced();
        co_await pay(written.size());
        if (is_pushed) co_await write_back.push(process, written);
        if (is_paused) co_await process.timeout(write_back.pause_ns(written.size()));
    }

    // Copies if pages are doubled, then the pages into the page cache and from there to the disks, then flushes. It
    // waits for all that is on its way when it has handed on its last page.
    Story write_synced(Batch batch) {
        find_runs(batch);
        if (runs.empty()) co_return;
        co_await pay(is_doubled + pages_of_runs());
        if (is_doubled) co_await write_copies();
        written.clear();
        for (const Run& run : runs) {
            const i64 step = devices.extent_of(run.first_page).devices;
            for (i64 i = 0; i < run.pages; i++) {
                const i32 page = static_cast<i32>(run.first_page + i * step);
                while (is_held_up(page, true)) co_await room(page);
                write_into_cache(page);
            }
        }
        const bool is_paused = interpreter.page_cache.is_paced();
        co_await write_back.push(process, written);
        const i64 pages_synced = write_back.pages_on_their_way();
        if (is_paused) co_await process.timeout(write_back.pause_ns(written.size()));
        while (write_back.pages_written < pages_synced) co_await write_back.written(process);
        for (const i64 page : page_of_each_file()) co_await flush(page);
    }

    Story write_direct(Batch batch) {
        find_runs(batch);
        if (runs.empty()) co_return;
        for (const Run& run : runs) submit(run);
        co_await pay(runs.size());
        if (outstanding > 0) co_await all_written();
    }

    // Doublewrite: copies of a batch in one request and a flush, then each page to its place, and flushes: for each
    // file, if the files are known, else of each disk with its last run.
    Story write_doubled(Batch batch) {
        find_runs(batch);
        if (runs.empty()) co_return;
        co_await pay(1 + runs.size());
        co_await write_copies();
        last_on.clear();
        for (i64 i = 0; i < devices.count(); i++) last_on.add(-1);
        if (rules.files.empty())
            for (i64 i = 0; i < runs.size(); i++) last_on[devices.device_of(runs[i].first_page)] = i;
        for (i64 i = 0; i < runs.size(); i++) submit(runs[i], last_on[devices.device_of(runs[i].first_page)] == i);
        co_await all_written();
        for (const i64 page : page_of_each_file()) co_await flush(page);
    }

    // The page that is next in a batch; those that come soon are prefetched.
    i32 next(Batch batch, i64 at) {
        if (at + AHEAD < batch.pages.size()) interpreter.prefetch(batch.pages[at + AHEAD]);
        return batch.pages[at];
    }

    // Whether the page cache has no room for a page now, or its file is locked for whoever writes.
    bool is_held_up(i32 page, bool is_written) const {
        const PageCache& page_cache = interpreter.page_cache;
        return page_cache.is_full_of_dirt() || (is_written && page_cache.locked_ns(page, calendar.now_ns) > 0);
    }

    Woken room(i32 page) {
        if (!interpreter.page_cache.is_full_of_dirt())
            return process.timeout(interpreter.page_cache.locked_ns(page, calendar.now_ns));
        write_back.flush(calendar.now_ns, rules.batch_pages);
        return write_back.written(process);
    }

    void write_into_cache(i32 page) {
        interpreter.page_cache.write(page, calendar.now_ns);
        written.add(page);
        write_back.write_evicted();
    }

    // CPU time of the write calls, and of the requests if they are made at once.
    Stations::Service pay(i64 calls) {
        const form::Costs& costs = system.costs;
        const i64 demand_ns = calls * (costs.write_ns + (is_pushed ? costs.request_ns : 0));
        interpreter.cpu_time.background_writer += demand_ns;
        return stations.run(process, demand_ns);
    }

    Woken all_written() {
        is_awaited = true;
        return process.woken();
    }

    Woken flush(i64 page) {
        outstanding++;
        devices.flush(devices.device_of(page), Use::writer, process.who);
        return all_written();
    }

    // The copies of the runs, in one request with a flush.
    Woken write_copies() {
        const i64 copies = pages_of_runs();
        outstanding++;
        devices.submit(devices.device_of(runs[0].first_page), devices.copies_byte(copies),
                       copies * system.storage.page_bytes, Transfer::write, Use::doublewrite, process.who, true);
        return all_written();
    }

    i64 pages_of_runs() const {
        i64 pages = 0;
        for (const Run& run : runs) pages += run.pages;
        return pages;
    }

    // Of each file of the runs a page on each device where it has some; none if the files aren't known.
    const Array<i64>& page_of_each_file() {
        to_flush.clear(), flushed_files.clear();
        if (!rules.files.empty())
            for (const Run& run : runs) note_file(run.first_page);
        return to_flush;
    }

    void note_file(i64 page) {
        const auto part = std::upper_bound(rules.files.begin(), rules.files.end(), page,
                                           [](i64 at, const form::FilePart& one) { return at < one.first_page; });
        const i64 file = (part - 1)->file;
        for (i64 i = 0; i < flushed_files.size(); i++)
            if (flushed_files[i] == file && devices.device_of(to_flush[i]) == devices.device_of(page)) return;
        flushed_files.add(file), to_flush.add(page);
    }

    void submit(const Run& run, bool synced = false) {
        outstanding++;
        devices.submit(devices.device_of(run.first_page), devices.byte_of(run.first_page),
                       run.pages * system.storage.page_bytes, Transfer::write, Use::writer, process.who, synced);
    }

    // The dirty pages of a batch and their neighbours, clean from now on.
    void find_runs(Batch batch) {
        runs.clear();
        for (i64 i = batch.first; i < batch.end; i++)
            if (const i32 page = next(batch, i); takes_dirt(page)) runs.add(with_neighbours(page));
    }

    // Dirty neighbours behind a page, then before it, go along in one request.
    Run with_neighbours(i64 page) {
        const Extent& extent = devices.extent_of(page);
        const i64 end = std::min(extent.end_page, system.program.pages);
        Run run{page, 1};
        while (run.pages < rules.coalesced_pages && run.first_page + run.pages * extent.devices < end &&
               takes_dirt(run.first_page + run.pages * extent.devices))
            run.pages++;
        while (run.pages < rules.coalesced_pages && run.first_page - extent.devices >= extent.first_page &&
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
        pool.look_at(page);
        return true;
    }
};

}  // namespace oltpsim
