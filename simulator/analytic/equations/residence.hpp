// Residence times of a transaction at every station, once the rate of transactions is given. Everything else follows
// from the rate: what misses, what is written, how long each queue is. Arrival theorem: whoever arrives sees the queue
// without itself.
#pragma once
#include "caching_arms.hpp"
#include "cpu.hpp"
#include "flash.hpp"
#include "locks.hpp"
#include "ssd.hpp"

namespace oltpsim {

class AtRate {
public:
    Solution figures;
    double load = 0;  // of the busiest station: more than 1 if it can't do its work

    explicit AtRate(const Workload& workload) : workload(workload) {
        figures.classes.each([&](Numbers& values) { values.assign(at(workload.classes), 0.0); });
        writes.make_space(workload);
        reads_of.resize(at(workload.views));
        for (Numbers* times : {&on_cpu, &paging, &last}) times->resize(at(workload.classes));
    }

    void set_machine(const Machine& given) {
        machine = whole = &given;
        if (given.volume.apart_page_s > 0) by_bytes = behind_bytes(given);
        pool.solve(workload, given);
        cache.prepare(workload, given, pool);
        writes.prepare();
    }

    // Clients that `rate` transactions/s take, by those that there are: more than 1 if they can't be.
    double population(double rate) {
        const double clients = machine->clients.number;
        const double seen = machine->is_open() ? 1.0 : std::max(clients - 1.0, 0.0) / clients;
        figures.rate = rate;
        if (workload.puts_aside) {
            pool.solve(workload, *whole, rate);
            cache.prepare(workload, *whole, pool);
        }
        agree_on_page_s(rate, seen);
        const ClassFigures& classes = figures.classes;
        double response = 0.0;
        double awaited = 0.0;
        for (std::size_t c = 0; c < at(workload.classes); c++) {
            response += workload.mix[c] * classes.total_s[c];
            awaited += workload.awaited[c] * classes.total_s[c];
        }
        figures.response_s = std::min(response, ENDLESS);
        awaited = std::min(awaited, ENDLESS);
        figures.population = rate * (figures.response_s + workload.think_s) / clients;
        if (machine->clients.terminals > 0) {
            const double terminals = rate * (awaited + machine->clients.away_s) / machine->clients.terminals;
            figures.population = std::max(figures.population, terminals);
        }
        return figures.population;
    }

    // At a step of population(rate), from fewer clients than there are to more, scales the waiting times of a closed
    // machine for disks and log so that clients = rate * (response + think time) still holds.
    void stretch_waits_to_population() {
        if (machine->clients.terminals > 0 || figures.population >= 1.0 - STEP) return;
        ClassFigures& classes = figures.classes;
        double waited = 0.0;
        for (std::size_t c = 0; c < at(workload.classes); c++) waited += workload.mix[c] * waited_s(c);
        if (waited <= 0.0) return;
        const double missing_s = machine->clients.number / figures.rate - workload.think_s - figures.response_s;
        const double longer = 1.0 + missing_s / waited;
        for (std::size_t c = 0; c < at(workload.classes); c++) {
            const double before = waited_s(c);
            for (Numbers* times : {&classes.read_s, &classes.victim_s, &classes.fault_s, &classes.log_s})
                (*times)[c] *= longer;
            classes.total_s[c] += (longer - 1.0) * before;
        }
        figures.disks.read_s *= longer;
        figures.response_s += (longer - 1.0) * waited;
        figures.population = 1.0;
    }

    // Time that a transaction takes at least: no rate above that can be.
    double least_s() const {
        double path = 0.0;
        for (std::size_t c = 0; c < at(workload.classes); c++)
            path += workload.mix[c] * (machine->cpu.path_s[c] + machine->cpu.section_s[c]);
        return workload.think_s + path / machine->cpu.speed + workload.mean(machine->clients.network_s.values);
    }

    // Sets the figures by lock, and those by group of pages if they are wanted. Returns how many figures there are.
    i64 set_parts(bool with_groups) {
        GroupFigures& groups = figures.groups;
        figures.locks.waiting = locks.waiting;
        groups = {};
        if (with_groups) {
            groups = {pool.missing, pool.misses, pool.faults, Numbers(at(workload.groups))};
            for (std::size_t g = 0; g < groups.reads.size(); g++)
                groups.reads[g] = pool.misses[g] * (1.0 - cache.hits[g]) * machine->storage.read_factor;
        }
        RowWidth counted{Widths{}};
        figures.each(counted);
        return counted.width;
    }

private:
    static constexpr double TOLERANCE = 1e-7, STEP = 1e-3;

    const Workload& workload;
    const Machine* machine = nullptr;  // as stations see it
    const Machine* whole = nullptr;    // as it was given
    Machine by_bytes;                  // the same with turns at its limit of bytes, if that counts apart
    BufferPool pool;
    PageCache cache;
    PageWrites writes;
    Traffic traffic;
    Demands demands;
    Cpu cpu;
    Locks locks;
    Numbers reads_of, found, on_cpu, paging, last;

    double waited_s(std::size_t c) const {
        const ClassFigures& classes = figures.classes;
        return classes.read_s[c] + classes.victim_s[c] + classes.fault_s[c] + classes.log_s[c];
    }

    // Writer and checkpoint are the faster the less the disks and processors have to do beside them, and they have
    // the less to do the slower those write: one time for a page at which both agree.
    void agree_on_page_s(double rate, double seen) {
        const double least_s = machine->cpu.page_write_s / machine->cpu.speed;
        double& found_s = figures.writes.page_s;
        const auto longer_than_expected = [&](double log_page_s) {
            const double page_s = exp_of(log_page_s);
            below_pool(rate, page_s);
            stations(rate, seen);
            const double difference = log_page_s - log_of(std::max(found_s, LEAST));
            return std::abs(difference) <= TOLERANCE ? 0.0 : difference;
        };
        const double least = log_of(std::max(least_s, LEAST));
        double low = least;
        double at_low = longer_than_expected(low);
        if (at_low == 0.0) return;
        double high = log_of(std::max(found_s, LEAST));
        // Page cleaners that keep up, if they can, rather than leave pages to clients and have the longer queues.
        if (machine->has_cleaners())
            high = std::min(high, log_of(machine->cleaners.number / std::max(writes.aged * rate, LEAST)));
        double at_high = longer_than_expected(high);
        if (low > high) {
            std::swap(low, high);
            std::swap(at_low, at_high);
        }
        // Slower daemons may leave more to each other: the bounds may lie farther apart.
        for (double farther = 1.0; at_high < 0.0 && high < log_of(ENDLESS); farther *= 2.0) {
            low = high;
            at_low = at_high;
            high += farther;
            at_high = longer_than_expected(high);
        }
        for (double farther = 1.0; at_low > 0.0 && low > least; farther *= 2.0) {
            high = low;
            at_high = at_low;
            low = std::max(low - farther, least);
            at_low = longer_than_expected(low);
        }
        if (at_low < 0.0 && at_high > 0.0) root_between(longer_than_expected, low, at_low, high, at_high, TOLERANCE);
    }

    // Reads and writes at a rate, if writer and checkpoint take so long for a page.
    void below_pool(double rate, double page_s) {
        machine = whole;
        const double factor = machine->storage.read_factor;
        double read = 0.0;
        writes.solve(workload, *machine, pool, rate, page_s);
        if (machine->pool.shared > 0.0)  // what is read, what the pool writes, and the log
            pool.share(workload, *machine,
                       2.0 * pool.misses_total +
                           (machine->log.cached_pages > 0 ? writes.log_bytes / machine->log.cached_page_bytes : 0.0));
        cache.solve(workload, *machine, pool, writes, rate);
        if (!machine->is_cached()) {
            for (std::size_t v = 0; v < reads_of.size(); v++) reads_of[v] = pool.misses_of[v] * factor;
            read = pool.misses_total * factor;
        } else {
            found.resize(at(workload.groups));
            for (std::size_t g = 0; g < found.size(); g++) {
                found[g] = pool.missing[g] * workload.read[g] * (1.0 - cache.hits[g]) * factor;
                read += found[g] * workload.references[g];
            }
            for (std::size_t v = 0; v < reads_of.size(); v++) {
                const double* share = workload.share.data() + v * found.size();
                double sum = 0.0;
                for (std::size_t g = 0; g < found.size(); g++) sum += share[g] * found[g];
                reads_of[v] = sum;
            }
        }
        traffic.solve(workload, *machine, writes, read, pool.merged);
        demands.solve(workload, *machine, pool, traffic, reads_of);
    }

    // Waits at the data disks, by their kind.
    Disks disks_at(const BackgroundWrites& behind, double rate, double seen) const {
        const DiskLoad disk_load{workload, *machine, writes, traffic, demands, behind, rate, seen};
        if (machine->is_ssd()) return disks_of_ssds(disk_load);
        if (machine->is_flash() && !machine->is_limited()) return disks_of_flash(disk_load);
        if (machine->write_cache.write_s <= 0) return disks_of_arms(disk_load);
        return disks_of_caching_arms(disk_load).beside(disks_of_arms(disk_load), too_large(*machine, behind));
    }

    // Times at all stations. A station that can't carry the rate has an endless queue.
    void stations(double rate, double seen) {
        machine = is_behind_bytes(*whole, writes, traffic) ? &by_bytes : whole;
        const bool shared = machine->is_log_shared();
        const bool durable = machine->is_durable();
        ClassFigures& classes = figures.classes;
        BackgroundWrites behind;
        behind.solve(*machine, demands, writes, traffic, cache.time, rate);
        const Disks disks = disks_at(behind, rate, seen);
        const Log& log = disks.log;
        cpu.solve(workload, *machine, demands, disks.rate, seen);
        // All who shared a flush of the log come back to the processors together, and stay together until one waits for
        // something else: with one burst until then they go in line, with more of them in turns.
        const double group = durable ? disks.rate * workload.commits_mean / std::max(log.groups, TINY) : 1.0;
        const double returning = std::max(group * log.last().flushing, 1.0);
        const double others = std::max(returning / machine->cpu.processors - 1.0, 0.0);
        const double burst_s = (demands.cpu_mean + demands.section_mean) * cpu.slowdown / demands.visits_mean;
        plain_stations(disks.rate, seen);
        const double free_s = machine->pool.growing > 0 ? 0.0 : machine->writing.free_wait_s;
        for (std::size_t c = 0; c < at(workload.classes); c++) {
            classes.bursts[c] = demands.bursts[c];
            classes.slices[c] = demands.slices[c];
            classes.disk_reads[c] = demands.reads[c];
            classes.victims[c] = demands.victims[c];
            classes.faults[c] = demands.faults[c];
            classes.cpu_s[c] = demands.cpu_s[c] * cpu.slowdown;
            classes.section_s[c] = demands.section_s[c] * cpu.slowdown;
            const double together = demands.bursts[c] / (1.0 + demands.reads[c] + demands.victims[c]);
            const double crowd_s = others * burst_s * together * (1.0 - 0.5 / std::max(together, 1.0));
            classes.cpu_queue_s[c] = cpu.wait_s * demands.bursts[c] + crowd_s;
            classes.section_queue_s[c] = cpu.queue_s * workload.entries[c];
            classes.read_s[c] = (disks.read_s + free_s) * demands.reads[c];
            classes.victim_s[c] = disks.victim_s * machine->victim_writes() * demands.victims[c];
            classes.fault_s[c] = disks.fault_s * demands.faults[c];
            on_cpu[c] = classes.cpu_s[c] + classes.cpu_queue_s[c];
            paging[c] = classes.read_s[c] + classes.victim_s[c] + classes.fault_s[c] + classes.station_s[c];
        }
        const double cycle_s = machine->clients.number / std::max(disks.rate * workload.commits_mean, TINY);
        const double commit_s =
            log.commit_s(*machine, seen, cycle_s) + overfull(writes.log_full) * machine->cleaners.round_s;
        for (std::size_t c = 0; c < at(workload.classes); c++) {
            classes.log_s[c] = commit_s * workload.commits[c];
            last[c] = classes.section_s[c] + classes.section_queue_s[c] + classes.log_s[c];
        }
        locks.solve(workload, *machine, demands, disks.rate, classes.cpu_s, cpu.wait_s, paging, last);
        for (std::size_t c = 0; c < at(workload.classes); c++) {
            classes.read_s[c] += disks.stalled_s * demands.reads[c];
            classes.victim_s[c] += disks.stalled_s * demands.victims[c];
            classes.fault_s[c] += disks.stalled_s * demands.faults[c];
            if (shared && durable) classes.log_s[c] += disks.stalled_s * workload.commits[c];
            classes.lock_s[c] = locks.wait_s[c];
            classes.total_s[c] = on_cpu[c] + classes.read_s[c] + classes.victim_s[c] + classes.fault_s[c] +
                                 classes.lock_s[c] + classes.section_s[c] + classes.section_queue_s[c] +
                                 classes.log_s[c] + machine->clients.network_s[c] + classes.station_s[c];
        }
        load = std::max({cpu.load, cpu.section_load, disks.busy, disks.first_busy, shared ? 0.0 : log.busy, locks.load,
                         writes.log_full});
        set_figures(disks, behind, rate / disks.rate);
    }

    // Sets the figures that aren't by class. `part`: share of the time without heaps of writes.
    void set_figures(const Disks& disks, const BackgroundWrites& behind, double part) {
        const Log& log = disks.log;
        figures.cpu = {
            .busy = cpu.busy * part,
            .section_busy = cpu.section_busy * part,
            .handing_over = cpu.handing_over * part,
            .slowdown = cpu.slowdown,
            .path_s = demands.cpu_mean,
            .section_s = demands.section_mean,
            .background_s = demands.background_cpu_s,
        };
        figures.disks = {
            .busy = std::min(disks.busy, 1.0),
            .first_busy = std::min(disks.first_busy, 1.0),
            .read_s = disks.read_s + disks.stalled_s,
            .heaps = disks.heaps,
            .stalled_s = disks.stalled_s + disks.behind_s,
            .pause_s = disks.pause_s,
            .writes_busy = behind.busy,
        };
        figures.log = {
            .busy = machine->is_log_shared() ? 0.0 : log.busy,
            .flushes_per_s = log.flushes * part,
            .groups_per_s = log.groups * part,
            .images = writes.images,
            .full = writes.log_full,
        };
        figures.pool = {
            .time = pool.time,
            .cache_time = cache.time,
            .misses = pool.misses_total,
            .dirty = writes.dirty,
            .dirty_victims = traffic.dirty_victims,
            .reads = traffic.reads,
            .merged = traffic.merged,
        };
        figures.writes = {
            .pages = traffic.written,
            .requests = traffic.requests,
            .background = traffic.background,
            .batch = writes.batch,
            .page_s = page_s_of(disks, behind),
        };
        figures.paging = {demands.reads_mean, demands.victims_mean, demands.faults_mean};
    }

    // Time of writer and checkpoint for a page.
    double page_s_of(const Disks& disks, const BackgroundWrites& behind) {
        const double all = machine->is_ssd() ? disks.first_load : disks.first_busy;
        const double beside = std::max(all - behind.busy * traffic.checkpointed, 0.0);
        // On arms, which are slower the farther apart pages lie, this could have several solutions, and without whole
        // pages in the log a late checkpoint changes little.
        const bool even = machine->is_flash() || machine->is_limited();
        const bool whole_pages = even && !machine->is_direct() && machine->checkpoints.image_bytes > 0;
        const double written_back_s = whole_pages ? writes.written_back_s(workload, *machine) : 0.0;
        const double cpu_wait_s = std::min(cpu.wait_s, cpu.most_s);
        return writer_page_s(*machine, writes, disks.reads_there, disks.batch_s, cpu_wait_s, written_back_s, beside);
    }

    void plain_stations(double rate, double seen) {
        Numbers& station_s = figures.classes.station_s;
        std::fill(station_s.begin(), station_s.end(), 0.0);
        const std::size_t stations = at(workload.stations);
        for (std::size_t k = 0; k < stations; k++) {
            double visits = 0.0;
            double served = 0.0;
            for (std::size_t c = 0; c < at(workload.classes); c++) {
                visits += workload.mix[c] * workload.visits[c * stations + k];
                served += workload.mix[c] * workload.served_s[c * stations + k];
            }
            if (visits <= 0) continue;
            const double service = served / visits;
            const double servers = workload.servers[k];
            const double wait = waiting(seen, service, servers, rate * visits, rate * served / servers, service);
            for (std::size_t c = 0; c < at(workload.classes); c++)
                station_s[c] += wait * workload.visits[c * stations + k] + workload.served_s[c * stations + k];
        }
    }
};

}  // namespace oltpsim
