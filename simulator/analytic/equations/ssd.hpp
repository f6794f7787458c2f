// SSDs: interface, dies, write buffer and flush in mean values. Sources: docs/model/ssd.md.
//
// A closed network in which a request passes the interface, of which there is one, and a read then one of the dies. All
// times are constant, so that an arrival finds half of a service left. Programs are a share of the dies' time; while
// there are some a read that finds its die without another one waits for half a program. The buffer's writes are done
// at once as long as it has room.
#pragma once
#include "disks.hpp"

namespace oltpsim {

struct Ssd {
    static constexpr double MOST_BURSTS = 0.98;

    double read_wait_s = 0, write_wait_s = 0;  // before service
    double load = 0;                           // of the busiest part: more than 1 if it can't do its work
    double busy = 0;                           // share of time in which any part is
    double draining = 0, backlog_s = 0;  // share of time in which there is a heap, and how long it drains on, mean
    double batch_s = 0;                  // how long the writer waits for a batch of direct writes
    double behind_s = 0, pause_s = 0;    // of a write's wait, for heaps; how long those wait that meet one
    double under_way = 0, alone_s = 0;   // reads that a flush which is done alone finds, and how long one takes
    double behind_programs = 0, longest_s = 0;  // the same of reads that wait for a program
    double heaps = 0, heap_wait_s = 0;  // share of time in which a heap waits for the drive; what that takes a flush
    double log_wait_s = 0;              // of a write of the log
    double passing_s = 0;               // what a flush waits for others and for requests
    double open = 1;                    // share of time in which no flush closes the interface, of the round before

    // Requests of write-back in a SATA drive; with parity, which is read before (simulator/kernel/ssd.hpp)
    static constexpr double WRITES = 4.0, REWRITES = 32.0;

    // Flushes per second, and what those wait for that aren't done before the buffer is drained: programs, as a share
    // of time, and the mean square of how long such a flush waits, times their rate.
    struct Flushes {
        double per_s = 0, drained = 0, squares = 0;
        double sources = 0;  // who flush, one flush at a time each

        void add(double flushes_per_s, double drains_s) {
            per_s += flushes_per_s;
            drained += flushes_per_s * drains_s;
            squares += flushes_per_s * drains_s * drains_s;
        }

        // Each waits for so much less.
        void shorten(double by_s) {
            squares += by_s * (per_s * by_s - 2.0 * drained);
            drained -= per_s * by_s;
        }
    };

    // Shares of time that the log takes of the dies and of the interface.
    struct Appended {
        double programs = 0, passing = 0;
    };

    // What a flush that is done alone waits for the reads under way at so many drives like this: for the last of them,
    // which likely waits for a program.
    double emptied_s(double drives) const {
        const double reads = drives * under_way, late = drives * behind_programs;
        return std::max(alone_s * reads / (1.0 + reads), longest_s * late / (2.0 + late));
    }

    // `reads`, `writes`: requests/s of clients; `other`: share of the dies' time for writes that come one by one;
    // `blocked`: clients that a heap may hold up; `flushes`, `log_flushes`: of pages, and of the log, per second.
    void solve(const Machine& machine, const BackgroundWrites& behind, double seen, double reads, double writes,
               double other, const Appended& log, double blocked, const Flushes& flushes, double log_flushes) {
        const double drain = machine.storage.write_s[0], background = behind.busy + other + log.programs;
        const double programs = writes * drain + background;  // share of the dies' time
        const double of_writes = writes + behind.per_s * (1.0 + machine.writing.doubled) + other / drain;
        // where the log is all there is, its requests are those that pass
        const double commands = std::max(reads + of_writes, log.passing / machine.ssd.interface_write_s);
        const double commanded =
            reads * machine.ssd.interface_read_s + of_writes * machine.ssd.interface_write_s + log.passing;
        const double command_s = commanded / std::max(commands, TINY);
        const double reading = reads * machine.ssd.die_s / machine.ssd.dies;
        const double interrupted =
            reads * machine.ssd.interrupted_s / machine.ssd.dies;  // of the time in which there are programs
        const double programming = std::min(programs / std::max(1.0 - reading - interrupted, TINY), 1.0);
        // A flush that is done alone closes the interface until the requests under way are done and it is, too.
        const bool is_alone = machine.ssd.closed_s > 0;
        alone_s = machine.storage.read_s[0] + programming * machine.ssd.program_s / 2.0;
        under_way = is_alone ? reads * alone_s / open : 0.0;
        longest_s = machine.storage.read_s[0] + machine.ssd.program_s;
        behind_programs = machine.is_direct() ? 0.0
                                              : under_way * programming *
                                                    (machine.storage.read_s[0] + machine.ssd.program_s / 2.0) / alone_s;
        const double closed_s = machine.ssd.closed_s + emptied_s(1.0);
        // What passes in bursts is waited for by residence.hpp; in between there is less time for the others.
        const double bursts = clip(behind.bursts(machine), 0.0, MOST_BURSTS);
        // Waiting for the interface among such flushes. By direct I/O no more of them wait than there are who flush:
        // one is under way and the others are before a read, or before one of them.
        const auto passing_among = [&](const Flushes& some, double others) {
            const double all = commanded + some.per_s * closed_s + some.drained;
            const double squares = some.per_s * closed_s * closed_s + 2.0 * some.drained * closed_s + some.squares;
            const double left_s = (commanded * command_s + squares) / std::max(2.0 * all, TINY);
            const double used = std::max(all - bursts, 0.0) / (1.0 - bursts);
            const double visit_s = all / std::max(commands + some.per_s, TINY);
            const double wait_s = waiting(seen, visit_s, 1.0, used / std::max(visit_s, TINY), used, left_s);
            if (!machine.is_direct() || some.per_s <= 0) return wait_s;
            const double flush_s = closed_s + some.drained / some.per_s,
                         rest_s = squares / (2.0 * some.per_s * flush_s);
            const double by_commands = command_s * commanded / std::max(1.0 - commanded, TINY);
            const double most = rest_s * clip(others, 0.0, 1.0) + flush_s * std::max(others - 1.0, 0.0) + by_commands;
            // what holds up more than there is time for isn't bounded; programs behind flushes that overlap count once
            const double in_line_s = std::max(wait_s - visit_s * overfull(used), 0.0);
            const double surely = std::max(all - std::max(some.drained, 0.0) - bursts, 0.0) / (1.0 - bursts);
            return in_line_s * most / std::max(in_line_s + most, TINY) + visit_s * overfull(surely);
        };
        const Flushes none;
        Flushes all_flushes = is_alone ? flushes : none;
        // reads end while a batch's pages pass before its flush
        const double entering_s =
            machine.is_direct() ? behind.batch / std::max(machine.cleaners.number, 1.0) * machine.ssd.interface_write_s
                                : 0.0;
        all_flushes.shorten(emptied_s(1.0) - emptied(std::max(alone_s - entering_s, 0.0), reads));
        if (is_alone && log_flushes > 0) {
            all_flushes.add(log_flushes, 0.0);
            all_flushes.sources += 1.0;
        }
        const double interface = commanded + all_flushes.per_s * closed_s + all_flushes.drained;
        // reads are crowded into the time in which the interface is open
        open = machine.is_direct() ? 1.0 : std::max(1.0 - (interface - commanded), 0.1);
        const double dies = reading + interrupted * programming + programs;  // share of their time
        load = std::max(interface, dies);
        busy = 1.0 - std::max(1.0 - interface, 0.0) * std::max(1.0 - reading, 0.0) * (1.0 - programming);
        const double passing = passing_among(all_flushes, all_flushes.sources);
        passing_s = passing_among(all_flushes, all_flushes.sources - 1.0);
        const double at_die =
            waiting(seen, machine.ssd.die_s, 1.0, reads / machine.ssd.dies, reading, machine.ssd.die_s / 2.0);
        const double program = programming * std::max(1.0 - seen * reading, 0.0) * machine.ssd.program_s / 2.0;
        read_wait_s = passing + at_die + program;

        // The buffer has no room while a heap larger than it drains, or if what comes is all that the dies can do.
        const double full = power(std::min(dies, 1.0), 32.0), slower = std::max(1.0 - reading - interrupted, 0.02);
        const double heap_s = (machine.is_direct() ? behind.batch : behind.heap) * drain;
        const double often = (machine.is_direct() ? behind.trickling : behind.heaped) / std::max(heap_s, TINY);
        // pages that daemons write together drain while they pass the interface
        const double passed_s = machine.is_direct() ? behind.batch * machine.ssd.interface_write_s : 0.0;
        const double absorbed = std::max(heap_s - passed_s - machine.ssd.buffer_s, 0.0) / slower;
        const bool queued = is_alone && !machine.is_direct();
        double after = 0.0;
        if (queued) {
            // a chunk with what comes meanwhile: into the buffer as fast as the interface takes it, then as it drains
            const double chunk = behind.chunk / std::max(1.0 - behind.heaped, 0.05), chunk_s = chunk * drain;
            const double all_s =
                std::max(chunk * machine.ssd.interface_write_s, std::max(chunk_s - machine.ssd.buffer_s, 0.0) / slower);
            heaps = chunk > 0.0 ? std::min(behind.heaped / chunk_s * all_s / open, 1.0) : 0.0;
            heap_wait_s =
                chunk > 0.0 ? std::min((machine.storage.parities > 0 ? REWRITES : WRITES) / chunk, 1.0) * all_s : 0.0;
        } else if (absorbed > 0.0 && often > 0.0) {
            const double anybody = often * absorbed * absorbed / 2.0;
            const double once = blocked * often * absorbed / std::max(reads + writes, TINY);
            after = 1.0 / std::sqrt(1.0 / (anybody * anybody) + 1.0 / std::max(once * once, LEAST));
            pause_s = absorbed / 2.0;
        }
        behind_s = after;
        const double into = after + (full + overfull(dies)) * drain;
        // a flush of the log meets none of its own; by direct I/O it waits for those of pages
        write_wait_s = passing + into;
        log_wait_s = into + (machine.is_direct() ? (is_alone ? passing_s : passing)
                                                 : passing_among(is_alone ? flushes : none, 0.0));
        // the backlog rises to a heap's, or to a full buffer's and stays there until the rest of the heap has come
        const double among = std::min(heap_s, machine.ssd.buffer_s) / slower;
        const double lasts = among + absorbed;
        draining = std::min(often * lasts, 1.0);
        backlog_s =
            full * machine.ssd.buffer_s + (1.0 - full) * among * (among / 2.0 + absorbed) / std::max(lasts, TINY);
        batch_s = machine.ssd.acknowledged_s + (machine.is_direct() ? passing * (1.0 + machine.writing.doubled) : 0.0) +
                  behind.batch * ((1.0 + machine.writing.doubled) * machine.ssd.interface_write_s +
                                  full * std::max(drain / slower - machine.ssd.interface_write_s, 0.0)) +
                  (machine.is_direct() ? absorbed : 0.0);
    }

private:
    // What a flush that is done alone waits for reads under way, of which each takes so long.
    static double emptied(double read_s, double reads) {
        const double under_way = reads * read_s;
        return read_s * under_way / (1.0 + under_way);
    }
};

// Pages that daemons write directly come all together, at the begin of a round, and pass an SSD's interface one
// after the other, first their copies. A client that comes meanwhile waits for the rest of the burst, once: it is
// held up for what is left of the burst when its next visit to the disk comes, exponentially after so long.
inline void behind_bursts(Disks& disks, const DiskLoad& load, double visits) {
    constexpr int ROUNDS = 12;
    const Machine& machine = load.machine;
    const double share = load.behind.bursts(machine), lasts_s = load.behind.burst_s(machine);
    if (share <= 0 || visits <= 0) return;
    const double bursts = share / lasts_s,
                 apart_s = machine.clients.number * machine.storage.disks / (load.rate * visits);
    double stalled_s = 0.0;
    for (int round = 0; round < ROUNDS; round++) {
        const double between_s = std::max(apart_s - stalled_s, TINY);
        const double held_s = lasts_s - between_s * one_minus_exp(std::min(lasts_s / between_s, 700.0));
        stalled_s = (stalled_s + std::min(bursts * held_s, 1.0) * apart_s) / 2.0;
    }
    disks.stalled_s = stalled_s;
    disks.heaps = std::min(share, 1.0);
    disks.pause_s = std::max(disks.pause_s, lasts_s / 2.0);
}

// SSDs. A log on a data disk takes of its interface and of its dies; a flush without power-loss protection waits
// for the buffer.
inline Disks disks_of_ssds(const DiskLoad& load) {
    const auto& [workload, machine, writes, traffic, demands, behind, rate, seen] = load;
    constexpr double CLOSING_TOLERANCE = 1e-10;  // of the log's flushes if none were held up
    constexpr double LOG_PAGE_BYTES = 8192.0;
    const bool shared = machine.is_log_shared();
    const double single = machine.disk_writes(1.0);
    const double spread = machine.storage.disks_per_file;
    const double reads = load.reads_per_s();
    const double victims = load.victims_per_s();
    const double blocked = load.blocked();
    // the log is appended to: what its bytes take of the dies
    const double logged =
        shared ? rate * writes.log_bytes * (machine.is_durable() ? machine.log.writes : 1.0) * single / spread : 0.0;
    const Ssd::Appended nothing{}, appended{logged * machine.log.drain_byte_s, logged * machine.log.byte_s};
    Ssd disk, first;
    const double faults = rate * demands.faults_mean / spread, swap = behind.swap;
    // a flush behind the copies and one behind each file's pages, of a batch or of a page that a client writes, in
    const bool drained = machine.ssd.synced_s > 0 && machine.ssd.closed_s > 0 && machine.ssd.is_volatile > 0;
    // turn; unprotected, the first two wait for the programs; in a set all disks are flushed
    const double batches = !machine.is_flushed() ? 0.0 : load.per_disk() * spread * traffic.background / writes.batch;
    const double ones = !machine.is_flushed() ? 0.0 : load.per_disk() * spread * demands.victims_mean;
    const double copies_s = drained ? writes.batch * machine.ssd.append_page_s / spread : 0.0;
    const double pages_s = drained ? writes.batch * machine.storage.write_s[0] * single / spread : 0.0;
    Ssd::Flushes synced;
    synced.add(machine.writing.doubled * batches, copies_s);
    synced.add(batches, pages_s);
    synced.add(batches * (writes.files - 1.0), 0.0);
    synced.sources = machine.cleaners.number + (ones > 0 ? machine.clients.number / machine.storage.disks : 0.0);
    synced.add(machine.victim_writes() * ones, drained ? machine.storage.write_s[0] : 0.0);
    Disks disks{};
    disks.rate = rate;
    const auto syncs_if = [&](double of_log) {
        // all disks of a set are flushed behind a write of the log
        disk.solve(machine, behind, seen, reads, victims, 0.0, nothing, blocked, synced, spread > 1.0 ? of_log : 0.0);
        first.solve(machine, behind, seen, reads + faults, victims, swap, appended, blocked, synced, of_log);
        // a flush is as slow as the buffer while that drains, or behind a heap: rates are averaged over time, not
        // waits
        const double own = machine.log.first_s, drains = machine.log.is_volatile > 0 && !drained ? first.draining : 0.0;
        const double slow = std::max(drains, first.heaps);
        const double slow_s = std::max(drains > 0.0 ? first.backlog_s : 0.0, first.heap_wait_s);
        const double for_heaps = 1.0 / (slow / (slow_s + own) + (1.0 - slow) / own) - own;
        // with parity a write that goes on in the log's last page need not read it (simulator/kernel/raid.hpp)
        const double bytes = rate * writes.log_bytes * machine.log.writes / std::max(disks.log.flushes, TINY);
        const bool keeps_page =
            machine.storage.parities > 0 && (machine.ssd.closed_s > 0 || machine.log.is_volatile > 0);
        const double known_s =
            keeps_page ? machine.storage.rewrite_s * std::max(1.0 - bytes / LOG_PAGE_BYTES, 0.0) : 0.0;
        const double waits_s = shared ? first.log_wait_s + for_heaps + first.emptied_s(spread) - known_s : 0.0;
        disks.log.solve(workload, machine, behind, {0.0, 0.0, 0.0, 1.0, waits_s}, writes.log_bytes, rate, 0.0);
        return shared && machine.is_durable() ? disks.log.syncs : 0.0;
    };
    // Flushes that are done alone hold up those of the log, which are the fewer: as many as fill the interface all but
    // a ten-thousandth, so that a coarse root would make waits jump.
    // Asked twice: what a write of the log need not read follows from how many there are.
    syncs_if(0.0);
    const double most = syncs_if(0.0);
    if (machine.ssd.closed_s > 0 && most > 0.0) {
        const auto too_many = [&](double of_log) { return of_log - syncs_if(of_log); };
        syncs_if(root_between(too_many, 0.0, -most, most, too_many(most), CLOSING_TOLERANCE * most));
    }
    const double part = spread / machine.storage.disks;
    disks.read_s = machine.storage.read_s[0] + disk.read_wait_s + (first.read_wait_s - disk.read_wait_s) * part;
    disks.victim_s = machine.ssd.acknowledged_s + disk.write_wait_s + (first.write_wait_s - disk.write_wait_s) * part;
    if (machine.storage.rewrite_s > 0) disks.victim_s += machine.storage.read_s[0];
    disks.fault_s = machine.swap.read_s[0] + first.read_wait_s;
    disks.busy = std::max(disk.busy, disk.load);
    disks.first_busy = std::max(first.busy, first.load);
    disks.first_load = first.load;
    disks.batch_s = std::max(disk.batch_s, first.batch_s);
    if (machine.ssd.synced_s > 0) {
        // behind a write a flush has its turn already, a file's has one of its own; beside others it waits for them
        const double work = synced.per_s * machine.ssd.synced_s,
                     flush_s = machine.ssd.synced_s + disk.emptied_s(spread);
        const double turn_s = machine.ssd.closed_s > 0 ? 0.0
                                                       : waiting(seen, machine.ssd.synced_s, 1.0, synced.per_s, work,
                                                                 machine.ssd.synced_s / 2.0);
        const double of_files =
            machine.ssd.closed_s > 0 && !workload.files.empty() ? writes.files * disk.passing_s : 0.0;
        disks.victim_s += flush_s + turn_s;
        disks.batch_s += (machine.writing.doubled + writes.files) * (flush_s + turn_s) + of_files + copies_s + pages_s;
        disks.busy = std::max(disks.busy, work);
        disks.first_busy = std::max(disks.first_busy, work);
    }
    disks.behind_s = disk.behind_s;
    disks.pause_s = disk.pause_s;
    behind_bursts(
        disks, load,
        demands.reads_mean + demands.victims_mean + (shared && machine.is_durable() ? workload.commits_mean : 0));
    return disks;
}

}  // namespace oltpsim
