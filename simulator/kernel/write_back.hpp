// Write-back: from dirty pages of the page cache to requests, and waiting until the disks have them.
#pragma once
#include "devices.hpp"
#include "interpreter.hpp"
#include "story.hpp"

namespace oltpsim {

class WriteBack : Parts {
public:
    i64 pages_written = 0;

    explicit WriteBack(const Parts& parts)
        : Parts(parts),
          merged_pages(system.storage.merged_pages),
          page_cache(interpreter.page_cache),
          pages_per_s(INITIAL_BYTES_PER_S / static_cast<double>(system.storage.page_bytes)) {}

    // How many more pages may be on their way to the disks.
    i64 free_pages() const { return system.page_cache.in_flight_pages - page_cache.writes_in_flight; }

    // How many pages will have been written back when the disks have all that is on its way now.
    i64 pages_on_their_way() const { return pages_written + page_cache.writes_in_flight; }

    // Memory had to give up dirty pages and buffers: their writes start now.
    void write_evicted() {
        Memory& memory = interpreter.memory;
        if (memory.outbox.empty()) return;
        for (const i32 page : memory.outbox) {
            if (page != Memory::TO_SWAP)
                write(page, 1);
            else
                devices.submit(0, system.storage.swap_start_bytes + memory.next_swap_out(), memory.swap_out_size(),
                               Transfer::write, Use::swap_out, NOBODY);
        }
        memory.outbox.clear();
    }

    // Hands to the disks up to `most` pages dirty since `latest_ns` or longer, in disk order; or, while there are such,
    // about as many in the order of the files, whatever their age. Returns the number of those that went.
    i64 flush(i64 latest_ns, i64 most) {
        if (system.page_cache.in_file_order) return page_cache.has_dirty_since(latest_ns) ? go_on_in_files(most) : 0;
        page_cache.find_dirty_since(latest_ns, most, found);
        hand_over();
        return found.size();
    }

    // Hands to the disks, in disk order, those of these pages that are still dirty, as soon as there is room.
    Story push(Process& process, const Array<i32>& pages) {
        i64 next = 0;
        while (true) {
            const i64 room = free_pages();
            found.clear();
            for (; next < pages.size() && found.size() < room; next++)
                if (page_cache.is_dirty(pages[next])) found.add(pages[next]);
            hand_over();
            if (next == pages.size()) co_return;
            co_await written(process);
        }
    }

    // Flushes what is dirty now, and waits until the disks have all that was on its way by then.
    Story sync(Process& process) {
        const i64 began_ns = calendar.now_ns;
        while (page_cache.has_dirty_since(began_ns)) {
            if (free_pages() > 0) flush(began_ns, free_pages());
            co_await written(process);
        }
        const i64 pages_synced = pages_on_their_way();
        while (pages_written < pages_synced) co_await written(process);
    }

    // A write-back is complete: its pages are clean, and whoever waits for room goes on.
    void end(const Request& request) {
        const i64 step = devices.extent_of(request.first_page).devices;
        for (i64 i = 0; i < request.pages; i++) page_cache.end_write_back(request.first_page + i * step);
        pages_written += request.pages;
        measure();
        is_idle = page_cache.writes_in_flight == 0;
        if (waiting == NONE) return;
        calendar.at_once(EventKind::tasks, std::exchange(waiting, NONE));
    }

    // How long whoever has written so many pages is paused: its turn comes when the disks, at the pace that the page
    // cache allows, have written what others were paused for before.
    i64 pause_ns(i64 pages) {
        const i64 longest_ns = whole_pauses(pages) * LONGEST_PAUSE_NS, now_ns = calendar.now_ns;
        const double allowed_per_s = std::max(page_cache.pace() * pages_per_s, 1.0);
        const double turn_ns =
            std::min(static_cast<double>(pages) * 1e9 / allowed_per_s, static_cast<double>(longest_ns));
        next_turn_ns = std::min(std::max(next_turn_ns, now_ns) + static_cast<i64>(turn_ns), now_ns + longest_ns);
        return next_turn_ns - now_ns;
    }

    // How long a client waits for its pause and in it, having written so many pages, none: there are as many dirty ones
    // as there may be. The file that it wrote to last may be locked until then.
    i64 pause_locking_ns(i64 pages, i32 file) {
        return page_cache.lock(file, calendar.now_ns, pages == 0 ? LONGEST_PAUSE_NS : pause_ns(pages));
    }

    // A client waits for the next completion of a write-back.
    void wait(i32 who, Stage stage) {
        tasks[who].stage = stage;
        waiting = joined(tasks, waiting, who);
    }

    // The same for a daemon.
    Woken written(Process& process) {
        waiting = joined(tasks, waiting, process.who);
        return process.woken();
    }

private:
    // Neighbouring pages on one device: they become one request.
    struct Run {
        i32 device = NONE;
        i64 first_page = 0;
        i64 pages = 0;
        i64 next_page = 0;
        i64 end_page = 0;
        i64 step = 0;
    };

    struct PageOnDevice {
        i32 device;
        i32 page;
        bool operator<(const PageOnDevice& other) const {
            return device != other.device ? device < other.device : page < other.page;
        }
    };

    // Linux, mm/page-writeback.c: INIT_BW, MAX_PAUSE, BANDWIDTH_INTERVAL, and the period of wb_update_write_bandwidth.
    static constexpr double INITIAL_BYTES_PER_S = 100.0 * 1048576.0, AVERAGING_NS = 3e9;
    static constexpr i64 LONGEST_PAUSE_NS = 200 * form::NS_PER_MS, MEASUREMENT_NS = 200 * form::NS_PER_MS;

    const i64 merged_pages;
    PageCache& page_cache;

    double pages_per_s;  // at which the disks write, measured while they do
    i64 measured_from_ns = 0;
    i64 measured_from_pages = 0;  // pages written by then
    i64 next_turn_ns = 0;         // of those who are paused
    bool is_idle = true;          // nothing is being written
    i32 waiting = NONE;           // the first of those who wait for a completion
    i64 next_in_files = 0;        // page
    Array<i32> found;
    Array<PageOnDevice> by_device;

    // Hands over the pages of `found`, neighbours in one request.
    void hand_over() {
        by_device.clear();
        for (const i32 page : found) by_device.add({devices.device_of(page), page});
        std::sort(by_device.begin(), by_device.end());
        Run run;
        for (const auto& [device, page] : by_device) {
            if (run.pages > 0 && run.pages < merged_pages && device == run.device && page == run.next_page &&
                page < run.end_page) {
                run.pages++;
                run.next_page += run.step;
                continue;
            }
            start(run);
            const Extent& extent = devices.extent_of(page);
            run = {device, page, 1, page + extent.devices, extent.end_page, extent.devices};
        }
        start(run);
    }

    // Hands over dirty pages from where it was left on, file by file from front to back and round again; neighbours go
    // in one request. Returns how many.
    i64 go_on_in_files(i64 most) {
        i64 pages = 0;
        while (pages < most && page_cache.dirty > 0) {
            i32 page = page_cache.next_dirty(next_in_files);
            if (page == NONE) page = page_cache.next_dirty(0);
            next_in_files = page + 1;
            const Extent& extent = devices.extent_of(page);
            Run run{devices.device_of(page),
                    page,
                    1,
                    page + extent.devices,
                    std::min(extent.end_page, system.program.pages),
                    extent.devices};
            while (run.pages < merged_pages && run.next_page < run.end_page && page_cache.is_dirty(run.next_page)) {
                run.next_page += run.step;
                run.pages++;
            }
            start(run);
            pages += run.pages;
        }
        return pages;
    }

    i64 whole_pauses(i64 pages) const {
        const i64 each = std::max(page_cache.given.pages_a_pause, i64{1});
        return (pages + each - 1) / each;
    }

    // The disks' rate is measured over periods in which they always have something to write.
    void measure() {
        const i64 lasts_ns = calendar.now_ns - measured_from_ns;
        if (lasts_ns < MEASUREMENT_NS) return;
        const double measured_per_s =
            static_cast<double>(pages_written - measured_from_pages) * 1e9 / static_cast<double>(lasts_ns);
        pages_per_s += (measured_per_s - pages_per_s) * std::min(static_cast<double>(lasts_ns) / AVERAGING_NS, 1.0);
        measured_from_ns = calendar.now_ns, measured_from_pages = pages_written;
    }

    void start(const Run& run) {
        if (run.pages == 0) return;
        for (i64 i = 0; i < run.pages; i++) page_cache.start_write_back(run.first_page + i * run.step);
        write(run.first_page, run.pages);
    }

    void write(i64 first_page, i64 pages) {
        if (std::exchange(is_idle, false)) measured_from_ns = calendar.now_ns, measured_from_pages = pages_written;
        const i32 number =
            devices.submit(devices.device_of(first_page), devices.byte_of(first_page),
                           pages * system.storage.page_bytes, Transfer::write, Use::write_back, WRITE_BACK);
        devices.requests[number].first_page = static_cast<i32>(first_page);
        devices.requests[number].pages = static_cast<i32>(pages);
    }
};

}  // namespace oltpsim
