// Residence times of a transaction at every station, once the rate of transactions is given. Everything else follows
// from the rate: what misses, what is written, how long each queue is. Arrival theorem: whoever arrives sees the queue
// without itself.
#pragma once
#include "cpu.hpp"
#include "locks.hpp"
#include "log.hpp"
#include "ssd.hpp"

namespace oltpsim {

// Figures of a solved machine: numbers, then one for each class, each lock, each group of pages.
// clang-format off: it would move the ends of these lines for ever
#define OLTPSIM_FIGURES(X) \
    X(rate)       /* transactions of the mix per second */ \
    X(population) /* clients that this rate takes, by those that there are */ \
    X(response_s) /* mean over the mix */ \
    X(cpu_busy)   /* share of all processors */ \
    X(section_busy) \
    X(handing_over) /* processors that hand critical sections over */ \
    X(disk_busy)    /* a data disk without log and swap */ \
    X(first_busy)   /* the first data disk, with them */ \
    X(log_busy)     /* a log device of its own */ \
    X(flushes_per_s) \
    X(groups_per_s)  /* of commits that share flushes */ \
    X(page_s)        /* what writer and checkpoint take for a page */ \
    X(disk_read_s)   /* mean response of one read */ \
    X(heaps)         /* share of time with a heap of writes at the disks */ \
    X(stalled_s)     /* of the mean read what it waits for heaps or batches of writes */ \
    X(pause_s)       /* how long those do that meet one, mean */ \
    X(writes_busy)   /* share of a data disk's time for background writes */ \
    X(slowdown)      /* of CPU times, since other hardware threads are busy */ \
    X(pool_time)     /* characteristic time of the pool, transactions */ \
    X(cache_time)    /* of the page cache */ \
    X(misses)        /* of the pool that need a read, per transaction, as all that follows */ \
    X(reads)         /* from disk */ \
    X(merged)        /* pages that merges read from there besides */ \
    X(dirty_victims) /* pages that whoever needs their buffer writes */ \
    X(written)       /* pages that reach the disks */ \
    X(requests)      /* writes that they make */ \
    X(background)    /* pages that writer and checkpoint write */ \
    X(dirty)         /* dirty buffers, mean */ \
    X(batch)         /* pages that writer and checkpoint, or a page cleaner, hand to the disks at once */ \
    X(images)        /* pages that the log has whole, per transaction */ \
    X(log_full)      /* how near page cleaners are to letting commits wait: 1 if those would have to for ever */ \
    X(background_cpu_s) \
    X(cpu_mean_s) /* mean over the mix, critical sections left out */ \
    X(section_mean_s) \
    X(reads_mean) \
    X(victims_mean) /* synchronous writes of dirty victims (direct I/O) */ \
    X(faults_mean)
#define OLTPSIM_CLASS_FIGURES(X) \
    X(total_s) \
    X(cpu_s) \
    X(cpu_queue_s) \
    X(read_s) \
    X(victim_s) \
    X(fault_s) \
    X(lock_s) \
    X(section_s) X(section_queue_s) X(log_s) X(station_s) X(bursts) X(slices) X(disk_reads) \
        X(victims) X(faults)
#define OLTPSIM_LOCK_FIGURES(X) X(lock_wait) /* share of acquisitions that wait */
#define OLTPSIM_GROUP_FIGURES(X) X(group_missing) X(group_misses) X(group_faults) X(group_reads)
// clang-format on

struct Figures {
#define X(name) double name = 0;
    OLTPSIM_FIGURES(X)
#undef X
};

class AtRate {
public:
    Figures figures;
#define X(name) Numbers name;
    OLTPSIM_CLASS_FIGURES(X)
#undef X
    BufferPool pool;
    PageCache cache;
    Locks locks;
    double load = 0;  // of the busiest station: more than 1 if it can't do its work

    explicit AtRate(const Workload& w) : w(w) {
#define X(name) name.assign(at(w.classes), 0.0);
        OLTPSIM_CLASS_FIGURES(X)
#undef X
        writes.make_space(w), reads_of.resize(at(w.views));
    }

    void machine(const Machine& of) {
        m = whole = &of;
        if (of.apart_page_s > 0) {
            by_bytes = of, by_bytes.page_transfer_s = of.apart_page_s;
            by_bytes.delay_s = of.delay_s + of.read_s[0] - of.apart_page_s;
            for (double* table : {by_bytes.read_s, by_bytes.write_s, by_bytes.swap_read_s, by_bytes.swap_write_s})
                std::fill_n(table, QUEUE_POINTS, of.apart_page_s);
        }
        pool.solve(w, of);
        cache.prepare(w, of, pool), writes.prepare();
    }

    // Clients that `x` transactions/s take, by those that there are: more than 1 if they can't be.
    double population(double x) {
        const double seen = m->open() ? 1.0 : std::max(m->clients - 1.0, 0.0) / m->clients;
        figures.rate = x;
        if (w.puts_aside) pool.solve(w, *whole, x), cache.prepare(w, *whole, pool);
        // Writer and checkpoint are the faster the less the disks and processors have to do beside them, and they have
        // the less to do the slower those write: one time for a page at which both agree.
        const double least_s = m->write_cpu_s / m->cpu_speed;
        const auto longer_than_expected = [&](double log_page_s) {
            const double page_s = exp_of(log_page_s);
            below_pool(x, page_s);
            stations(x, seen);
            const bool no_matter = std::max(page_s, figures.page_s) <= writes.slack_s;
            const double difference = log_page_s - log_of(std::max(figures.page_s, LEAST));
            return no_matter || std::abs(difference) <= TOLERANCE ? 0.0 : difference;
        };
        const double least = log_of(std::max(least_s, LEAST));
        double low = least, at_low = longer_than_expected(low);
        if (at_low != 0.0) {
            double high = log_of(std::max(figures.page_s, LEAST));
            // Page cleaners that keep up, if they can, rather than leave pages to clients and have the longer queues.
            if (m->cleaners > 0) high = std::min(high, log_of(m->cleaners / std::max(writes.aged * x, LEAST)));
            double at_high = longer_than_expected(high);
            if (low > high) std::swap(low, high), std::swap(at_low, at_high);
            // Slower daemons may leave more to each other: the bounds may lie farther apart.
            for (double farther = 1.0; at_high < 0.0 && high < log_of(ENDLESS); farther *= 2.0)
                low = high, at_low = at_high, high += farther, at_high = longer_than_expected(high);
            for (double farther = 1.0; at_low > 0.0 && low > least; farther *= 2.0)
                high = low, at_high = at_low, low = std::max(low - farther, least), at_low = longer_than_expected(low);
            if (at_low < 0.0 && at_high > 0.0)
                root_between(longer_than_expected, low, at_low, high, at_high, TOLERANCE);
        }
        double response = 0.0, awaited = 0.0;
        for (std::size_t c = 0; c < at(w.classes); c++)
            response += w.mix[c] * total_s[c], awaited += w.awaited[c] * total_s[c];
        figures.response_s = std::min(response, ENDLESS), awaited = std::min(awaited, ENDLESS);
        figures.population = x * (figures.response_s + w.think_s) / m->clients;
        if (m->terminals > 0)
            figures.population = std::max(figures.population, x * (awaited + m->away_s) / m->terminals);
        return figures.population;
    }

    // Where the population makes a step, from fewer clients than there are to more, the others of a closed machine wait
    // where clients wait already: for disks and the log, so that clients = rate * (response + think time) still holds.
    void let_the_others_wait() {
        if (m->terminals > 0 || figures.population >= 1.0 - STEP) return;
        double waited = 0.0;
        for (std::size_t c = 0; c < at(w.classes); c++)
            waited += w.mix[c] * (read_s[c] + victim_s[c] + fault_s[c] + log_s[c]);
        if (waited <= 0.0) return;
        const double longer = 1.0 + (m->clients / figures.rate - w.think_s - figures.response_s) / waited;
        for (std::size_t c = 0; c < at(w.classes); c++) {
            const double before = read_s[c] + victim_s[c] + fault_s[c] + log_s[c];
            read_s[c] *= longer, victim_s[c] *= longer, fault_s[c] *= longer, log_s[c] *= longer;
            total_s[c] += (longer - 1.0) * before;
        }
        figures.disk_read_s *= longer;
        figures.response_s += (longer - 1.0) * waited, figures.population = 1.0;
    }

    // What a transaction takes at least: no rate above that can be.
    double least_s() const {
        double path = 0.0;
        for (std::size_t c = 0; c < at(w.classes); c++) path += w.mix[c] * (m->path_s[c] + m->section_s[c]);
        return w.think_s + path / m->cpu_speed + w.mean(m->network_s);
    }

    double read_of(std::size_t g) const { return pool.misses[g] * (1.0 - cache.hits[g]) * m->read_factor; }

private:
    static constexpr double TOLERANCE = 1e-7, STEP = 1e-3;

    const Workload& w;
    const Machine* m = nullptr;      // as stations see it
    const Machine* whole = nullptr;  // as it was given
    Machine by_bytes;                // the same with turns at its limit of bytes, if that counts apart
    PageWrites writes;
    Traffic traffic;
    Demands demands;
    Cpu cpu;
    Numbers reads_of, on_cpu, paging, last;

    // Reads and writes at a rate, if writer and checkpoint take so long for a page.
    void below_pool(double x, double page_s) {
        m = whole;
        double read = 0.0;
        writes.solve(w, *m, pool, x, page_s);
        cache.solve(w, *m, pool, writes, x);
        if (!m->cached()) {
            for (std::size_t v = 0; v < reads_of.size(); v++) reads_of[v] = pool.misses_of[v] * m->read_factor;
            read = pool.misses_total * m->read_factor;
        } else {
            found.resize(at(w.groups));
            for (std::size_t g = 0; g < found.size(); g++) {
                found[g] = pool.missing[g] * w.read[g] * (1.0 - cache.hits[g]) * m->read_factor;
                read += found[g] * w.references[g];
            }
            for (std::size_t v = 0; v < reads_of.size(); v++) {
                const double* share = w.share.data() + v * found.size();
                double sum = 0.0;
                for (std::size_t g = 0; g < found.size(); g++) sum += share[g] * found[g];
                reads_of[v] = sum;
            }
        }
        traffic.solve(w, *m, writes, read, pool.merged);
        demands.solve(w, *m, pool, traffic, reads_of);
    }
    Numbers found;

    // Waits for data disks, and for the log.
    struct Disks {
        double rate;                       // transactions/s while there is no heap of writes
        double read_s, victim_s, fault_s;  // each
        double busy, first_busy;           // share of a data disk's time; of the first, with log and swap
        double first_load;                 // of an SSD's busiest part
        double reads_there;                // at an arm
        double batch_s;                    // how long a batch of direct writes takes on flash
        double stalled_s, heaps;           // what heaps hold up each wait for a disk; share of time with one
        double behind_s;                   // what else each waits behind heaps or batches of writes, in its own time
        double pause_s;                    // of those that wait for a heap or a batch, mean
        Log log;

        // For this share of the time it is as another.
        Disks beside(const Disks& other, double share) const {
            Disks both = *this;
            for (double Disks::* figure :
                 {&Disks::rate, &Disks::read_s, &Disks::victim_s, &Disks::fault_s, &Disks::busy, &Disks::first_busy,
                  &Disks::reads_there, &Disks::stalled_s, &Disks::heaps, &Disks::behind_s, &Disks::pause_s})
                both.*figure = (1.0 - share) * this->*figure + share * other.*figure;
            return both;
        }
    };

    // Share of a heap of writes that a drive's cache has no room for: it waits among the reads, as without a cache.
    double too_large(const BackgroundWrites& behind) const {
        return m->direct > 0 ? 0.0 : std::max(1.0 - m->write_cache_pages / std::max(behind.heap, 1.0), 0.0);
    }

    double unforced_log(double x) const {
        const double volume = m->durable > 0 ? 0.0 : x * writes.log_bytes * m->log_byte_s;
        return m->log_shared() ? volume / m->data_units() : volume;
    }

    Disks at_flash(double x, double seen, const BackgroundWrites& behind) const {
        const Demands& d = demands;
        const bool shared = m->log_shared();
        const double per_disk = x / m->data_devices, single = m->disk_writes(1.0), spread = m->disks_per_file;
        const double reads = per_disk * (d.reads_mean + (m->again_s > 0 ? d.victim_writes_mean * single : 0.0));
        const double victims = per_disk * d.victim_writes_mean * single;
        const double volume = unforced_log(x), blocked = m->clients / m->data_devices;
        Flash disk, first;
        const double swap = behind.swap / m->parallel + (shared ? volume : 0.0);
        disk.solve(*m, behind, seen, reads, victims, 0.0, blocked);
        first.solve(*m, behind, seen, reads + x * d.faults_mean / spread, victims, swap, blocked);
        Disks disks{};
        disks.rate = x;
        disks.log.solve(w, *m, behind, {0.0, 0.0, 0.0, 1.0, shared ? first.write_wait_s : 0.0}, writes.log_bytes, x,
                        shared ? volume * spread / single : volume);
        const double log_way = disks.log.in_the_way_s * single / spread, part = spread / m->data_devices;
        disks.read_s = m->read_s[0] + disk.read_wait_s + (first.read_wait_s + log_way - disk.read_wait_s) * part;
        disks.victim_s = m->write_s[0] + disk.write_wait_s + (first.write_wait_s + log_way - disk.write_wait_s) * part;
        disks.fault_s = m->swap_read_s[0] + first.read_wait_s + log_way;
        disks.busy = disk.foreground + behind.busy;
        disks.first_busy = first.foreground + behind.busy + swap;
        if (shared) disks.first_busy += disks.log.busy / m->parallel * single / spread;
        disks.batch_s = std::max(disk.batch_s, first.batch_s);
        disks.behind_s = disk.behind_s, disks.pause_s = disk.pause_s;
        return disks;
    }

    static constexpr int BURST_ROUNDS = 12;
    static constexpr double CLOSING_TOLERANCE = 1e-10;  // of the log's flushes if none were held up
    static constexpr double LOG_PAGE_BYTES = 8192.0;

    // SSDs. A log on a data disk takes of its interface and of its dies; a flush without power-loss protection waits
    // for the buffer.
    Disks at_ssds(double x, double seen, const BackgroundWrites& behind) const {
        const Demands& d = demands;
        const bool shared = m->log_shared();
        const double per_disk = x / m->data_devices, single = m->disk_writes(1.0), spread = m->disks_per_file;
        const double reads = per_disk * (d.reads_mean + (m->again_s > 0 ? d.victim_writes_mean * single : 0.0));
        const double victims = per_disk * d.victim_writes_mean * single, blocked = m->clients / m->data_devices;
        // the log is appended to: what its bytes take of the dies
        const double logged =
            shared ? x * writes.log_bytes * (m->durable > 0 ? m->log_writes : 1.0) * single / spread : 0.0;
        const Ssd::Appended nothing{}, appended{logged * m->log_drain_byte_s, logged * m->log_byte_s};
        Ssd disk, first;
        const double faults = x * d.faults_mean / spread, swap = behind.swap;
        // a flush behind the copies and one behind each file's pages, of a batch or of a page that a client writes, in
        const bool drained = m->synced_s > 0 && m->closed_s > 0 && m->data_volatile > 0;
        // turn; unprotected, the first two wait for the programs; in a set all disks are flushed
        const double batches = !m->flushed() ? 0.0 : per_disk * spread * traffic.background / writes.batch;
        const double ones = !m->flushed() ? 0.0 : per_disk * spread * d.victims_mean;
        const double copies_s = drained ? writes.batch * m->append_page_s / spread : 0.0;
        const double pages_s = drained ? writes.batch * m->write_s[0] * single / spread : 0.0;
        Ssd::Flushes synced;
        synced.add(m->doubled * batches, copies_s), synced.add(batches, pages_s),
            synced.add(batches * (writes.files - 1.0), 0.0);
        synced.sources = m->cleaners + (ones > 0 ? m->clients / m->data_devices : 0.0);
        synced.add(m->victim_writes() * ones, drained ? m->write_s[0] : 0.0);
        Disks disks{};
        disks.rate = x;
        const auto syncs_if = [&](double of_log) {
            // all disks of a set are flushed behind a write of the log
            disk.solve(*m, behind, seen, reads, victims, 0.0, nothing, blocked, synced, spread > 1.0 ? of_log : 0.0);
            first.solve(*m, behind, seen, reads + faults, victims, swap, appended, blocked, synced, of_log);
            // a flush is as slow as the buffer while that drains, or behind a heap: rates are averaged over time, not
            // waits
            const double own = m->log_first_s, drains = m->log_volatile > 0 && !drained ? first.draining : 0.0;
            const double slow = std::max(drains, first.heaps);
            const double slow_s = std::max(drains > 0.0 ? first.backlog_s : 0.0, first.heap_wait_s);
            const double for_heaps = 1.0 / (slow / (slow_s + own) + (1.0 - slow) / own) - own;
            // with parity a write that goes on in the log's last page need not read it (simulator/kernel/raid.hpp)
            const double bytes = x * writes.log_bytes * m->log_writes / std::max(disks.log.flushes, TINY);
            const bool keeps_page = m->parities > 0 && (m->closed_s > 0 || m->log_volatile > 0);
            const double known_s = keeps_page ? m->again_s * std::max(1.0 - bytes / LOG_PAGE_BYTES, 0.0) : 0.0;
            const double waits_s = shared ? first.log_wait_s + for_heaps + first.emptied_s(spread) - known_s : 0.0;
            disks.log.solve(w, *m, behind, {0.0, 0.0, 0.0, 1.0, waits_s}, writes.log_bytes, x, 0.0);
            return shared && m->durable > 0 ? disks.log.syncs : 0.0;
        };
        // Flushes that are done alone hold up those of the log, which are the fewer: as many as fill the interface all
        // but a ten-thousandth, so that a coarse root would make waits jump.
        // Asked twice: what a write of the log need not read follows from how many there are.
        syncs_if(0.0);
        const double most = syncs_if(0.0);
        if (m->closed_s > 0 && most > 0.0) {
            const auto too_many = [&](double of_log) { return of_log - syncs_if(of_log); };
            syncs_if(root_between(too_many, 0.0, -most, most, too_many(most), CLOSING_TOLERANCE * most));
        }
        const double part = spread / m->data_devices;
        disks.read_s = m->read_s[0] + disk.read_wait_s + (first.read_wait_s - disk.read_wait_s) * part;
        disks.victim_s = m->acknowledged_s + disk.write_wait_s + (first.write_wait_s - disk.write_wait_s) * part;
        if (m->again_s > 0) disks.victim_s += m->read_s[0];
        disks.fault_s = m->swap_read_s[0] + first.read_wait_s;
        disks.busy = std::max(disk.busy, disk.load), disks.first_busy = std::max(first.busy, first.load);
        disks.first_load = first.load;
        disks.batch_s = std::max(disk.batch_s, first.batch_s);
        if (m->synced_s > 0) {
            // behind a write a flush has its turn already, a file's has one of its own; beside others it waits for them
            const double work = synced.per_s * m->synced_s, flush_s = m->synced_s + disk.emptied_s(spread);
            const double turn_s =
                m->closed_s > 0 ? 0.0 : waiting(seen, m->synced_s, 1.0, synced.per_s, work, m->synced_s / 2.0);
            const double of_files = m->closed_s > 0 && !w.files.empty() ? writes.files * disk.passing_s : 0.0;
            disks.victim_s += flush_s + turn_s;
            disks.batch_s += (m->doubled + writes.files) * (flush_s + turn_s) + of_files + copies_s + pages_s;
            disks.busy = std::max(disks.busy, work), disks.first_busy = std::max(disks.first_busy, work);
        }
        disks.behind_s = disk.behind_s, disks.pause_s = disk.pause_s;
        behind_bursts(disks, behind, x,
                      d.reads_mean + d.victims_mean + (shared && m->durable > 0 ? w.commits_mean : 0));
        return disks;
    }

    // Pages that daemons write directly come all together, at the begin of a round, and pass an SSD's interface one
    // after the other, first their copies. A client that comes meanwhile waits for the rest of the burst, once: it is
    // held up for what is left of the burst when its next visit to the disk comes, exponentially after so long.
    void behind_bursts(Disks& disks, const BackgroundWrites& behind, double x, double visits) const {
        const double share = behind.bursts(*m), lasts_s = behind.burst_s(*m);
        if (share <= 0 || visits <= 0) return;
        const double bursts = share / lasts_s, apart_s = m->clients * m->data_devices / (x * visits);
        double stalled_s = 0.0;
        for (int round = 0; round < BURST_ROUNDS; round++) {
            const double between_s = std::max(apart_s - stalled_s, TINY);
            const double held_s = lasts_s - between_s * one_minus_exp(std::min(lasts_s / between_s, 700.0));
            stalled_s = (stalled_s + std::min(bursts * held_s, 1.0) * apart_s) / 2.0;
        }
        disks.stalled_s = stalled_s, disks.heaps = std::min(share, 1.0);
        disks.pause_s = std::max(disks.pause_s, lasts_s / 2.0);
    }

    // Drives with a write cache: writes are done when they are in it, and reads go before those that it holds; while it
    // is full every other turn is a write's.
    Disks at_caching_arms(double x, double seen, const BackgroundWrites& behind) const {
        const Demands& d = demands;
        const double per_disk = x / m->data_devices, single = m->disk_writes(1.0), spread = m->disks_per_file;
        const double reads = per_disk * (d.reads_mean + (m->again_s > 0 ? d.victim_writes_mean * single : 0.0));
        const double write_s = std::max(behind.heap_s, m->write_s[QUEUE_POINTS - 1]);
        BackgroundWrites none;
        none.most = 1.0;
        Disks disks{};
        disks.rate = x;
        disks.log.solve(w, *m, behind, {0.0, 0.0, 0.0, 1.0, 0.0}, writes.log_bytes, x, unforced_log(x));
        double waits[2], writes_wait[2];
        for (int first = 0; first < 2; first++) {
            Reads arm;
            const double asked = reads + (first ? x * d.faults_mean / spread : 0.0);
            arm.solve(*m, none, seen, asked, 1.0, 0.0);
            double writes = behind.busy + per_disk * d.victim_writes_mean * single * write_s;
            if (first && m->log_shared()) writes += disks.log.busy * single / spread;
            if (first) writes += behind.swap;
            const double of_reads = std::min(asked * arm.service_s, 1.0), busy = of_reads + writes;
            const double full = power(std::min(busy, 1.0), 32.0);
            waits[first] = arm.wait_s + (std::min(writes, 1.0 - of_reads) / 2.0 + full + overfull(busy)) * write_s;
            (first ? disks.first_busy : disks.busy) = busy;
            const double page_s = m->write_cache_s + full * write_s / std::max(1.0 - of_reads, 0.05);
            if (!first) disks.batch_s = this->writes.batch * single / m->data_devices * page_s;
            writes_wait[first] = m->write_cache_s + full * write_s;
        }
        disks.read_s = waits[0] + (waits[1] - waits[0]) / m->data_devices * spread;
        disks.victim_s = writes_wait[0] + (writes_wait[1] - writes_wait[0]) / m->data_devices * spread;
        disks.fault_s = waits[1] + m->swap_read_s[0] - m->read_s[0];
        return disks;
    }

    Disks at_arms(double given, double seen, const BackgroundWrites& behind) const {
        const Machine& machine = *m;
        const Demands& d = demands;
        const bool shared = machine.log_shared(), durable = machine.durable > 0;
        double blocking = d.reads_mean + d.victims_mean + d.faults_mean;
        if (shared && durable) blocking += w.commits_mean;
        Stalls stalls;
        stalls.solve(machine, behind, given, blocking);
        const double x = stalls.rate;
        const double per_disk = x / machine.data_devices, single = machine.disk_writes(1.0),
                     spread = machine.disks_per_file;
        // a write that somebody waits for, in reads of the disks
        const double victim_reads =
            machine.write_alone_s > 0 ? 0.0 : single * (1.0 + machine.again_s / machine.read_s[0]);
        const double asked = per_disk * (d.reads_mean + d.victim_writes_mean * victim_reads);
        double left = std::max(1.0 - behind.trickling - stalls.share * stalls.among, 0.02);
        const double once = machine.clients * behind.trickling * machine.data_devices / std::max(x * blocking, TINY);
        Reads reads, first;
        reads.solve(machine, behind, seen, asked, left, once);
        double log_waits = 0.0;
        if (machine.log_beside_s > 0) {
            if (machine.log_behind > 0) log_waits = std::max(reads.wait_s - reads.service_s, 0.0);
            left = std::max(left - machine.log_beside_s * Log::flushes_beside(w, machine, x, log_waits), 0.02);
            reads.solve(machine, behind, seen, asked, left, once);
        }
        // the first disk also has the log, if that has no device of its own, and swap; a RAID set spreads them
        const double volume = unforced_log(x);
        const double first_asked = asked + x * d.faults_mean / spread;
        const double first_left = std::max(left - behind.swap - (shared ? volume : 0.0), 0.02);
        first = reads;
        if (first_left != left || d.faults_mean > 0) first.solve(machine, behind, seen, first_asked, first_left, once);
        Disks disks{};
        Log& log = disks.log;
        log.solve(w, machine, behind, {first_asked, first.wait_s, first.service_s, first_left, log_waits},
                  writes.log_bytes, x, shared ? volume * spread / single : volume);
        const double first_wait = first.wait_s + log.in_the_way_s * single / spread;
        const double one_read =
            reads.wait_s + (first_wait - reads.wait_s) / machine.data_devices * spread + machine.delay_s;
        const double one_fault = first_wait + machine.swap_read_s[0] - machine.read_s[0] + machine.delay_s;
        const double at_once = machine.parallel > 1 ? std::min(machine.parallel, machine.calls) : machine.parallel;
        const double part = given / x;
        const double disk_busy = part * asked * reads.service_s / at_once + behind.busy;
        double first_busy = disk_busy + behind.swap + given * d.faults_mean * first.service_s / spread;
        if (shared) first_busy += part * log.busy / machine.parallel * single / spread;
        const double closed = machine.clients * std::max(1.0 / given - 1.0 / x, 0.0);
        const double held_up =
            machine.open() ? stalls.share * stalls.lasts_s / 2.0 * one_minus_exp(std::min(blocking, 700.0)) : closed;
        disks.rate = x, disks.read_s = one_read, disks.victim_s = one_read + machine.again_s, disks.fault_s = one_fault;
        disks.busy = disk_busy, disks.first_busy = first_busy, disks.reads_there = asked * reads.wait_s;
        disks.stalled_s = held_up / std::max(blocking, TINY), disks.heaps = stalls.share;
        disks.pause_s = stalls.lasts_s / Stalls::SWEEP_READS;
        if (machine.flash > 0) disks.victim_s += machine.write_s[0] - machine.read_s[0];
        if (machine.write_alone_s > 0) disks.victim_s = machine.write_alone_s;
        return disks;
    }

    // Limits that count apart are each the sum of what is asked of them: of two only the one counts that has more to
    // do.
    const Machine& behind_the_tighter_limit() const {
        const Machine& of = *whole;
        if (of.apart_page_s <= 0) return of;
        const double copies = of.doubled * traffic.written;
        const double copies_s = copies / std::max(writes.batch, 1.0) * BackgroundWrites::copies_s(of, writes.batch);
        const double reads = traffic.reads + traffic.merged;
        const double by_requests_s = reads * of.read_s[0] + traffic.requests * of.write_s[0] + copies_s;
        const double by_bytes_s = (reads + traffic.written + copies) * of.apart_page_s;
        return by_bytes_s > by_requests_s ? by_bytes : of;
    }

    // Times at all stations. A station that can't carry the rate has an endless queue.
    void stations(double given, double seen) {
        m = &behind_the_tighter_limit();
        const Machine& machine = *m;
        const Demands& d = demands;
        const bool shared = machine.log_shared(), durable = machine.durable > 0;
        BackgroundWrites behind;
        behind.solve(machine, d, writes, traffic, cache.time, given);
        Disks disks;
        if (machine.dies > 0)
            disks = at_ssds(given, seen, behind);
        else if (machine.flash > 0 && machine.limited <= 0)
            disks = at_flash(given, seen, behind);
        else if (machine.write_cache_s > 0)
            disks = at_caching_arms(given, seen, behind).beside(at_arms(given, seen, behind), too_large(behind));
        else
            disks = at_arms(given, seen, behind);
        const double x = disks.rate, part = given / x;
        const Log& log = disks.log;
        cpu.solve(w, machine, d, x, seen);
        // All who shared a flush of the log come back to the processors together, and stay together until one waits for
        // something else: with one burst until then they go in line, with more of them in turns.
        const double group = durable ? x * w.commits_mean / std::max(log.groups, TINY) : 1.0;
        const double others = std::max(std::max(group * log.last().flushing, 1.0) / machine.processors - 1.0, 0.0);
        const double burst_s = (d.cpu_mean + d.section_mean) * cpu.slowdown / d.visits_mean;
        on_cpu.resize(at(w.classes)), paging.resize(at(w.classes)), last.resize(at(w.classes));
        plain_stations(x, seen);
        const double free_s = machine.growing > 0 ? 0.0 : machine.free_wait_s;
        double between = w.think_s;
        for (std::size_t c = 0; c < at(w.classes); c++) {
            bursts[c] = d.bursts[c], slices[c] = d.slices[c];
            disk_reads[c] = d.reads[c], victims[c] = d.victims[c], faults[c] = d.faults[c];
            cpu_s[c] = d.cpu_s[c] * cpu.slowdown, section_s[c] = d.section_s[c] * cpu.slowdown;
            const double together = d.bursts[c] / (1.0 + d.reads[c] + d.victims[c]);
            const double crowd_s = others * burst_s * together * (1.0 - 0.5 / std::max(together, 1.0));
            cpu_queue_s[c] = cpu.wait_s * d.bursts[c] + crowd_s;
            section_queue_s[c] = cpu.queue_s * w.entries[c];
            read_s[c] = (disks.read_s + free_s) * d.reads[c],
            victim_s[c] = disks.victim_s * machine.victim_writes() * d.victims[c];
            fault_s[c] = disks.fault_s * d.faults[c];
            on_cpu[c] = cpu_s[c] + cpu_queue_s[c], paging[c] = read_s[c] + victim_s[c] + fault_s[c] + station_s[c];
            between += w.mix[c] * (on_cpu[c] + section_s[c] + section_queue_s[c] + paging[c] + m->network_s[c]);
        }
        const double commit = log.commit_s(machine, seen, between / std::max(w.commits_mean, TINY)) +
                              overfull(writes.log_full) * machine.round_s;
        for (std::size_t c = 0; c < at(w.classes); c++) {
            log_s[c] = commit * w.commits[c];
            last[c] = section_s[c] + section_queue_s[c] + log_s[c];
        }
        locks.solve(w, machine, d, x, cpu_s, cpu.wait_s, paging, last);
        for (std::size_t c = 0; c < at(w.classes); c++) {
            read_s[c] += disks.stalled_s * d.reads[c], victim_s[c] += disks.stalled_s * d.victims[c];
            fault_s[c] += disks.stalled_s * d.faults[c];
            if (shared && durable) log_s[c] += disks.stalled_s * w.commits[c];
            lock_s[c] = locks.wait_s[c];
            total_s[c] = on_cpu[c] + read_s[c] + victim_s[c] + fault_s[c] + lock_s[c] + section_s[c] +
                         section_queue_s[c] + log_s[c] + m->network_s[c] + station_s[c];
        }
        figures.cpu_busy = cpu.busy * part, figures.section_busy = cpu.section_busy * part;
        figures.handing_over = cpu.handing_over * part, figures.slowdown = cpu.slowdown;
        load = std::max({cpu.load, cpu.section_load, disks.busy, disks.first_busy, shared ? 0.0 : log.busy, locks.load,
                         writes.log_full});
        figures.disk_busy = std::min(disks.busy, 1.0), figures.first_busy = std::min(disks.first_busy, 1.0);
        figures.log_busy = shared ? 0.0 : log.busy, figures.flushes_per_s = log.flushes * part,
        figures.groups_per_s = log.groups * part;
        const double all = machine.dies > 0 ? disks.first_load : disks.first_busy;
        const double beside = std::max(all - behind.busy * traffic.checkpointed, 0.0);
        // On arms, which are slower the farther apart pages lie, this could have several solutions, and without whole
        // pages in the log a late checkpoint changes little.
        const bool even = machine.flash > 0 || machine.limited > 0;
        const bool whole = even && machine.direct <= 0 && machine.image_bytes > 0;
        const double written_back_s = whole ? writes.written_back_s(w, machine) : 0.0;
        figures.page_s = writer_page_s(machine, writes, disks.reads_there, disks.batch_s,
                                       std::min(cpu.wait_s, cpu.most_s), written_back_s, beside);
        figures.disk_read_s = disks.read_s + disks.stalled_s, figures.heaps = disks.heaps;
        figures.writes_busy = behind.busy;
        figures.stalled_s = disks.stalled_s + disks.behind_s, figures.pause_s = disks.pause_s;
        figures.pool_time = pool.time, figures.cache_time = cache.time, figures.misses = pool.misses_total;
        figures.reads = traffic.reads, figures.dirty_victims = traffic.dirty_victims, figures.written = traffic.written;
        figures.merged = traffic.merged;
        figures.requests = traffic.requests, figures.background = traffic.background, figures.dirty = writes.dirty;
        figures.images = writes.images, figures.log_full = writes.log_full, figures.batch = writes.batch;
        figures.background_cpu_s = d.background_cpu_s, figures.cpu_mean_s = d.cpu_mean;
        figures.section_mean_s = d.section_mean, figures.reads_mean = d.reads_mean;
        figures.victims_mean = d.victims_mean, figures.faults_mean = d.faults_mean;
    }

    void plain_stations(double x, double seen) {
        std::fill(station_s.begin(), station_s.end(), 0.0);
        const std::size_t stations = at(w.stations);
        for (std::size_t k = 0; k < stations; k++) {
            double visits = 0.0, served = 0.0;
            for (std::size_t c = 0; c < at(w.classes); c++)
                visits += w.mix[c] * w.visits[c * stations + k], served += w.mix[c] * w.served_s[c * stations + k];
            if (visits <= 0) continue;
            const double service = served / visits;
            const double wait = waiting(seen, service, w.servers[k], x * visits, x * served / w.servers[k], service);
            for (std::size_t c = 0; c < at(w.classes); c++)
                station_s[c] += wait * w.visits[c * stations + k] + w.served_s[c * stations + k];
        }
    }
};

}  // namespace oltpsim
