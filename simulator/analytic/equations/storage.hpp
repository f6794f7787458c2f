// Storage: data devices, and how long a read waits for them among the writes that go on in the background.
// Sources: docs/model.md, section 7.
#pragma once
#include "queues.hpp"
#include "traffic.hpp"

namespace oltpsim {

// Writes in the background at one data disk. Some come in heaps: what a wake-up of the flusher finds, what the writer
// hands over from its high mark to its low one, or all dirty pages that the page cache may hold. The others trickle:
// dirty pages that the page cache has to give up, and all that direct I/O writes. So do the pages that merges read.
struct BackgroundWrites {
    double busy = 0;                                // share of the disk's time, heaps and trickle
    double trickling = 0;                           // of it for those that trickle
    double most = 0;                                // requests that may have trickled in
    double batch = 0;                               // how many of those come together; 0 if each for itself
    double at_once = 0;                             // of a batch those that are at the disk at a time
    double pushed = 1;                              // mean number that come at a time otherwise
    double active = 1;                              // share of time in which they come
    double heap = 1;                                // requests of a heap
    double chunk = 0;                               // the same of what write-back takes along at once
    double heap_s = 0;                              // service of one of them
    double swap = 0;                                // share of the first disk's time for swap-outs
    double heaped = 0;                              // share of the disk's time for writes that come in heaps
    double per_s = 0;                               // requests, heaps and trickle
    double writer_per_s = 0, checkpoint_per_s = 0;  // batches of direct writes

    void solve(const Machine& m, const Demands& d, const PageWrites& w, const Traffic& t, double cache_time, double x) {
        const bool direct = m.direct > 0;
        const double requests = std::max(t.requests - d.victims_mean, 0.0);
        const double stays = power(std::min(1.0, cache_time / std::max(x * (m.expire_s + m.flush_s), TINY)), 4.0);
        // what the writer brings pushes out as many dirty pages, in the order in which it has brought those
        const double trickle = direct || m.reads_per_write > 0 ? 1.0 : (1.0 - stays) * (1.0 - t.bursts);
        const double pages_each = std::max(t.written / std::max(t.requests, TINY), 1.0);
        // what each request of a file makes for one of the disks
        const double each = m.disk_writes(pages_each) / m.data_devices;
        const double together = m.flash > 0 ? std::min(t.heap, m.in_flight) : t.heap;
        heap = std::max(direct ? w.batch * each : together / std::max(pages_each, TINY) * each, 1.0);
        chunk = direct ? 0.0 : m.cache_chunk / std::max(pages_each, TINY) * each;
        const double longer = m.longer_s(pages_each / m.units(pages_each));
        const double order = direct ? w.batch * each : t.sorted / std::max(pages_each, TINY) * each;
        heap_s = at_queue(m.write_s, std::max(order, heap) / 2.0) + longer;
        const double reads = std::min(m.clients / m.data_devices, m.calls_per_disk());
        most = (direct ? 2.0 * w.batch : m.cache_dirty_limit) * each;
        const double rate = x * each / m.parallel * requests;
        double trickle_s = at_queue(m.write_s, most) + longer;
        batch = !direct ? 0.0 : (m.flash > 0 ? w.together : w.batch) * each;
        at_once = m.synced > 0 ? std::min(batch, std::max(m.in_flight * each, 1.0)) : batch;
        pushed = 1.0 + std::max(w.batch * each - 1.0, 0.0) / 2.0 * t.batches;
        for (int number = 0; number < 3; number++) {
            const double load = rate * trickle * trickle_s;
            trickle_s = (trickle_s + at_queue(m.write_s, depth(reads, load)) + longer) / 2.0;
        }
        const double cluster = m.swap_cluster / m.units(m.swap_cluster);
        const double out = at_queue(m.swap_write_s, heap / 2.0) + m.longer_s(1.0 - m.limited + cluster);
        trickle_s += copies_s(m, w.batch) * m.disk_writes(w.batch) / w.batch / m.disk_writes(pages_each);
        per_s = rate * m.parallel;
        const double read_s = m.dies > 0 ? m.die_s / m.dies : m.read_s[0] / m.parallel;
        const double merging = x * t.merged / m.data_devices * read_s;
        busy = rate * (trickle * trickle_s + (1.0 - trickle) * heap_s) + merging;
        trickling = rate * trickle * trickle_s + merging;
        heaped = direct ? 0.0 : rate * (1.0 - trickle) * heap_s;
        writer_per_s = x * (w.aged - w.victims) / w.together, checkpoint_per_s = x * w.checkpoint / w.together;
        active = direct ? std::max(w.active, std::min(rate * trickle_s, 1.0)) : 1.0;
        swap = x * d.faults_mean / m.swap_cluster * out * m.disk_writes(m.swap_cluster) / m.disks_per_file;
    }

    // Share of an SSD's interface that pages take which daemons write together, with their copies.
    double bursts(const Machine& m) const { return m.direct > 0 && batch > 1.0 ? per_s * burst_s(m) / batch : 0.0; }

    double burst_s(const Machine& m) const { return batch * m.interface_write_s * (1.0 + m.doubled); }

    // The request that writes the copies of a batch first, if it is written twice.
    static double copies_s(const Machine& m, double batch) {
        if (m.doubled > 0 && m.dies > 0) return m.append_page_s * batch / m.units(batch);
        return m.doubled > 0 ? m.write_s[0] + m.longer_s(batch / m.units(batch)) : 0.0;
    }

    // Requests at a disk with so many reads among which writes of this load come: at any time (mixed network), or in
    // batches that are half done on average.
    double depth(double reads, double load) const {
        if (batch > 0) return reads + std::max(at_once / 2.0, 0.5) * batch_there(reads, load);
        return std::min((reads + load * pushed) / std::max(1.0 - load, 0.001), reads + std::max(most, 1.0));
    }

    // Share of time in which there is a batch: as long as its share of the queue needs for its share of the time.
    double batch_there(double reads, double load) const {
        const double half = std::max(at_once / 2.0, 0.5);
        return std::min(load * (reads + half) / half, 1.0);
    }
};

// Heaps of writes as an environment that changes slowly (Courtois 1977, nearly decomposable systems). While the arm
// sweeps over a heap a read is served if the arm has still to come by its place. From the sweep's begin a client gets
// through e - 1 reads: the first one's place is anywhere, the next one's must lie ahead, and so on. So all clients end
// no more than (e - 1) clients / `blocking` transactions, `blocking` being how often one waits for a disk; if they end
// fewer in that time anyhow, the heap takes nothing but the device's time.
struct Stalls {
    static constexpr double SWEEP_READS = 1.718281828459045;

    double share = 0;    // of the time in which there is a heap
    double among = 1;    // of that time in which clients go on as if there were none
    double rate = 0;     // transactions/s while there is none
    double lasts_s = 0;  // how long the arm takes for a heap

    void solve(const Machine& m, const BackgroundWrites& writes, double x, double blocking) {
        constexpr double MOST = 0.98;
        const double heaps = clip(writes.busy - writes.trickling, 0.0, MOST), inside = SWEEP_READS * m.clients;
        lasts_s = (writes.heap + inside / m.data_devices) * writes.heap_s / m.parallel;
        const double fits = inside / std::max(blocking * lasts_s, TINY);
        among = power(1.0 + power(std::min(x / std::max(fits, TINY), 1e6), 4.0), -0.25);
        share = clip(heaps * (1.0 + (1.0 - among) * inside / m.data_devices / std::max(writes.heap, 1.0)), 0.0, MOST);
        rate = x * (1.0 - share * among) / (1.0 - share);
    }
};

// Reads at a disk: response and service of one.
struct Reads {
    double wait_s = 0, service_s = 0;

    // At `rate` reads/s of one disk, of whose time writes leave the share `left`. One arm: with Q reads there, and the
    // writes that trickle in among them, a request takes S; the arm is busy for the share U of the time left that
    // solves Q = U + seen g U^2 / (1 - seen U), g the share of a service that an arrival finds left. The rate U / S
    // rises with Q and is looked up backwards. Several requests at once: as `waiting`. At a limit also for a batch of
    // writes, but for no longer than `once_s`: who has waited for a batch has it behind.
    void solve(const Machine& m, const BackgroundWrites& writes, double seen, double rate, double left, double once_s) {
        const double g = m.limited > 0 ? 0.5 : 0.65, most = most_busy(m, left, g), wanted = rate / left;
        double alone = 0.0, load = 0.0;
        if (m.parallel <= 1) {
            const double calls = m.calls_per_disk();
            double rate0 = 0.0, rate1 = 0.0, time0 = 0.0, time1 = 0.0, queue = 1.0;
            for (i64 i = 0; i < QUEUE_POINTS; i++, queue *= 1.4142135623730951) {
                const double time = at_queue(m.read_s, writes.depth(std::min(queue, calls), writes.trickling));
                rate0 = rate1, time0 = time1, time1 = time;
                rate1 = std::max(rate0, busy_with(seen, queue, g) * most / time);
                if (i == 0) rate0 = rate1, time0 = time1;
                if (i > 0 && rate1 >= wanted) break;
            }
            const double part = clip((wanted - rate0) / std::max(rate1 - rate0, TINY), 0.0, 1.0);
            service_s = time0 + (time1 - time0) * part;
            load = wanted * service_s / most;
            const double open = 1.0 - seen * load;
            alone = open > TINY ? service_s * (1.0 + seen * g * load / open) : ENDLESS;
            if (m.limited > 0) alone += service_s * overfull(load);
        } else {
            service_s = m.read_s[0];
            const double servers = std::min(m.parallel, m.calls) * most;
            alone =
                service_s + waiting(seen, service_s, servers, wanted, wanted * service_s / servers, service_s / 2.0);
        }
        wait_s = alone /= left;
        if (m.limited > 0 && m.cleaners > 0)
            wait_s = among_batches(writes, seen, rate, left, once_s, service_s);
        else if (m.limited > 0)
            wait_s += std::min(behind_batch(writes, alone, seen * load, service_s), once_s);
    }

private:
    // Share of time that an arm is busy if so many requests are there: U of `solve`.
    static double busy_with(double seen, double queue, double g) {
        const double b = 1.0 + seen * queue;
        return 2.0 * queue / (b + std::sqrt(std::max(b * b - 4.0 * seen * (1.0 - g) * queue, 0.0)));
    }

    // Share of the time that writes leave in which a disk can serve calls: 1 for independent disks. A RAID set's
    // pending calls are spread over its disks by chance, as in a closed network, and writes fill the gaps.
    static double most_busy(const Machine& m, double left, double g) {
        if (m.disks_per_file <= 1) return 1.0;
        const double each = m.calls_per_disk();
        const double several = std::min(each / m.parallel, m.calls / (m.calls + m.disks_per_file - 1.0));
        return std::min((m.parallel > 1 ? several : busy_with(1.0 - 1.0 / m.calls, each, g)) / left, 1.0);
    }

    // What a read waits at a limit for a batch of direct writes that came before it: for half of them, if it is there,
    // which it is for as long as it needs with what reads leave of the turns. Rates are averaged, not waits.
    static double behind_batch(const BackgroundWrites& writes, double alone, double reads, double turn) {
        const double there = std::min(writes.trickling / writes.active / std::max(1.0 - reads, 0.02), 1.0);
        const double among = alone + std::max(writes.at_once - 1.0, 0.0) / 2.0 * turn * there;
        return 1.0 / (writes.active / among + (1.0 - writes.active) / alone) - alone;
    }

    // Response at a limit among the batches of page cleaners, which come all the time. Of Q reads and a batch of B
    // pages that has come behind them the disk has the batch for Q + B turns, all of it for Q and half of it for the
    // rest; and as often as the pages' share of the time asks for, at most always. A read finds what is there, but
    // nobody waits for more pages than pass while it is there, which is `once_s`.
    static double among_batches(const BackgroundWrites& writes, double seen, double rate, double left, double once_s,
                                double service_s) {
        const double turn_s = service_s / clip(left + writes.trickling, 0.02, 1.0);  // the rest is others'
        const double reads = rate * turn_s, met = seen * reads, batch = std::max(writes.at_once, 1.0);
        const double pages = writes.trickling * turn_s / service_s, itself = 1.0 - met / 2.0;
        if (met >= 1.0) return ENDLESS;
        const double open = 1.0 - met - pages * reads;
        double turns = open > TINY ? (itself + pages * batch / 2.0) / open : ENDLESS;
        if (pages * (reads * turns + batch) > batch) {  // one is always there
            const double a = (1.0 - met) * reads, b = (1.0 - met - reads) * batch - itself * reads;
            turns = (std::sqrt(b * b + 4.0 * a * (itself + batch / 2.0) * batch) - b) / (2.0 * std::max(a, TINY));
        }
        turns = std::min(turns, (itself + once_s / turn_s) / (1.0 - met));
        return turn_s * (turns + overfull(reads + pages));
    }
};

// A flash disk: `parallel` requests at a time in the order in which they come, or reads before writes.
//
// Background writes come in batches, behind which others wait. By direct I/O writer and checkpoint each have one batch
// at the disk at most, as two more customers of a closed network: they take what others leave, and others wait for what
// is left of a batch, or of one and a half if both are there. Write-back hands over heaps, each of which holds up a
// client once at most.
struct Flash {
    double read_wait_s = 0, write_wait_s = 0;  // before service
    double foreground = 0;                     // share of its time for reads and for writes that somebody waits for
    double batch_s = 0;                        // how long a batch of direct writes takes
    double behind_s = 0, pause_s = 0;          // of the wait, for batches or heaps; how long those wait that meet one

    // `reads`, `writes`: requests/s of clients; `other`: share of its time for writes that come one by one; `blocked`:
    // clients that a heap may hold up.
    void solve(const Machine& m, const BackgroundWrites& behind, double seen, double reads, double writes, double other,
               double blocked) {
        const bool direct = m.direct > 0;
        const double read = m.read_s[0], write = m.write_s[0], c = m.parallel;
        const double of_reads = reads * read / c;
        foreground = of_reads + writes * write / c;
        const double background = behind.busy + other;
        const double work = (reads * read * read + writes * write * write) / c + background * write;
        const double residual = work / std::max(2.0 * (foreground + background), TINY);
        const double busy = std::min(seen * foreground + background, 1.0);
        const double stable = seen * foreground + (direct ? other : background), open = std::max(1.0 - stable, TINY);
        const double kept = std::max(1.0 - seen * foreground, 0.02), all = residual * all_busy(busy, c) / c;
        double after = 0.0;
        if (direct) {
            const double batch = behind.batch + std::sqrt(behind.batch * 2.0 * log_of(m.data_devices));
            // of a batch out of the page cache so many are at the disk, one more whenever one is done
            const double window = batch * (behind.at_once / std::max(behind.batch, TINY));
            // share of time with a batch of each: whose batch is there while the other's is waits behind it
            const double alone_s = std::max(write, batch * write / (window < batch ? std::min(c, window) : c)) / kept;
            const double seldom = std::min(behind.writer_per_s, behind.checkpoint_per_s) * alone_s;
            const double often = std::max(behind.writer_per_s, behind.checkpoint_per_s) * alone_s;
            const double less = seldom < 0.5 ? seldom / (1.0 - seldom) : 1.0,
                         more = std::min(often * (1.0 + less), 1.0);
            const double both = less * more, one = less + more - 2.0 * both, unstarted = std::max(batch - c, 0.0);
            if (window < batch) {
                const double ahead = std::min(unstarted, std::max(window - c, 0.0));
                after = (one * ahead * (1.0 - ahead / 2.0 / batch) + both * ahead) * write / c / kept;
            } else {
                after = (one * unstarted * unstarted / (2.0 * std::max(batch, 1.0)) +
                         both * std::max(1.5 * batch - c, 0.0)) *
                        write / c / kept;
            }
            batch_s = alone_s * (1.0 + less);
            // who waits meets no other batch: each holds up a client once at most
            const double batches = behind.writer_per_s + behind.checkpoint_per_s;
            const double once =
                blocked * batches * unstarted * write / c / kept * (1.0 + less) / std::max(reads + writes, TINY);
            if (after > 0.0) after = power(power(after, -4.0) + power(once, -4.0), -0.25);
            pause_s = unstarted * write / c / kept / 2.0;
        } else if (behind.heaped > 0.0) {
            const double heap = behind.heap, absorbed = std::max(heap - c, 0.0) * write / c / kept;
            const double heaps = behind.heaped * c / (heap * write);
            const double anybody = heaps * absorbed * absorbed / 2.0;
            const double once = blocked * heaps * absorbed / std::max(reads + writes, TINY);
            if (anybody > 0.0) after = 1.0 / std::sqrt(1.0 / (anybody * anybody) + 1.0 / (once * once));
            pause_s = absorbed / 2.0;
        }
        if (m.reads_per_write > 0) {
            const double fewer = std::max(1.0 - seen * of_reads, TINY);
            read_wait_s = all / fewer, write_wait_s = all / open / fewer + after;
        } else {
            read_wait_s = write_wait_s = all / open + after;
            behind_s = after;
        }
        const double calls = std::min(c, m.calls);
        if (calls < c)
            read_wait_s = std::max(read_wait_s, waiting(seen, read, calls, reads, reads * read / calls, read / 2.0));
        read_wait_s += overfull(stable) * read / c, write_wait_s += overfull(stable) * write / c;
    }
};

// What writer and checkpoint take for a page, if so many reads are at a disk and a burst of CPU waits so long. A batch
// is over when its last page is; reads get their turns in between, but at limits in the order of arrival. Out of the
// page cache a checkpoint's pages have what all else leaves of the disks' time; it ends when they are there.
inline double writer_page_s(const Machine& m, const PageWrites& w, double reads_there, double batch_s,
                            double cpu_wait_s, double written_back_s, double others) {
    constexpr double MOST = 0.98, LEAST_LEFT = 0.02;
    double disks = m.direct > 0 ? 0.0 : written_back_s * w.batch / std::max(MOST - others, LEAST_LEFT);
    const double copies_s = BackgroundWrites::copies_s(m, w.batch);
    if (m.direct > 0 && ((m.flash > 0 && m.limited <= 0) || m.write_cache_s > 0)) {
        disks = batch_s + (m.dies > 0 ? 0.0 : copies_s);
    } else if (m.direct > 0) {
        const double even = w.together * m.disk_writes(1.0) / m.data_devices;
        const double whole = even + std::sqrt(even * 2.0 * log_of(m.data_devices));
        // out of the page cache one part follows the other
        const double parts = m.synced > 0 ? std::max(w.together / std::max(m.in_flight, 1.0), 1.0) : 1.0;
        const double batch = whole / parts;
        const double there = std::min(reads_there, m.calls_per_disk());
        const double passed = m.limited > 0 && m.cleaners > 0 ? there : there * log_of(1.0 + batch);
        disks = parts * (passed + batch) / m.parallel * at_queue(m.write_s, there + batch / 2.0);
        if (m.doubled > 0) disks += there / m.parallel * at_queue(m.write_s, there) + copies_s;
    }
    return (cpu_wait_s + disks) / w.batch + m.write_cpu_s / m.cpu_speed;
}

}  // namespace oltpsim
