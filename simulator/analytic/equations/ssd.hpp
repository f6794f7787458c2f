// SSDs: interface, dies, write buffer and flush in mean values. Sources: docs/model.md, section 7.
//
// A closed network in which a request passes the interface, of which there is one, and a read then one of the dies. All
// times are constant, so that an arrival finds half of a service left. Programs are a share of the dies' time; while
// there are some a read that finds its die without another one waits for half a program. The buffer's writes are done
// at once as long as it has room.
#pragma once
#include "storage.hpp"

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
            per_s += flushes_per_s, drained += flushes_per_s * drains_s;
            squares += flushes_per_s * drains_s * drains_s;
        }

        // Each waits for so much less.
        void shorten(double by_s) { squares += by_s * (per_s * by_s - 2.0 * drained), drained -= per_s * by_s; }
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
    void solve(const Machine& m, const BackgroundWrites& behind, double seen, double reads, double writes, double other,
               const Appended& log, double blocked, const Flushes& flushes, double log_flushes) {
        const double drain = m.write_s[0], background = behind.busy + other + log.programs;
        const double programs = writes * drain + background;  // share of the dies' time
        const double of_writes = writes + behind.per_s * (1.0 + m.doubled) + other / drain;
        // where the log is all there is, its requests are those that pass
        const double commands = std::max(reads + of_writes, log.passing / m.interface_write_s);
        const double commanded = reads * m.interface_read_s + of_writes * m.interface_write_s + log.passing;
        const double command_s = commanded / std::max(commands, TINY);
        const double reading = reads * m.die_s / m.dies;
        const double interrupted = reads * m.interrupted_s / m.dies;  // of the time in which there are programs
        const double programming = std::min(programs / std::max(1.0 - reading - interrupted, TINY), 1.0);
        // A flush that is done alone closes the interface until the requests under way are done and it is, too.
        const bool is_alone = m.closed_s > 0;
        alone_s = m.read_s[0] + programming * m.program_s / 2.0, under_way = is_alone ? reads * alone_s / open : 0.0;
        longest_s = m.read_s[0] + m.program_s;
        behind_programs = m.direct > 0 ? 0.0 : under_way * programming * (m.read_s[0] + m.program_s / 2.0) / alone_s;
        const double closed_s = m.closed_s + emptied_s(1.0);
        // What passes in bursts is waited for by residence.hpp; in between there is less time for the others.
        const double bursts = clip(behind.bursts(m), 0.0, MOST_BURSTS);
        // Waiting for the interface among such flushes. By direct I/O no more of them wait than there are who flush:
        // one is under way and the others are before a read, or before one of them.
        const auto passing_among = [&](const Flushes& some, double others) {
            const double all = commanded + some.per_s * closed_s + some.drained;
            const double squares = some.per_s * closed_s * closed_s + 2.0 * some.drained * closed_s + some.squares;
            const double left_s = (commanded * command_s + squares) / std::max(2.0 * all, TINY);
            const double used = std::max(all - bursts, 0.0) / (1.0 - bursts);
            const double visit_s = all / std::max(commands + some.per_s, TINY);
            const double wait_s = waiting(seen, visit_s, 1.0, used / std::max(visit_s, TINY), used, left_s);
            if (m.direct <= 0 || some.per_s <= 0) return wait_s;
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
        const double entering_s = m.direct > 0 ? behind.batch / std::max(m.cleaners, 1.0) * m.interface_write_s : 0.0;
        all_flushes.shorten(emptied_s(1.0) - emptied(std::max(alone_s - entering_s, 0.0), reads));
        if (is_alone && log_flushes > 0) all_flushes.add(log_flushes, 0.0), all_flushes.sources += 1.0;
        const double interface = commanded + all_flushes.per_s * closed_s + all_flushes.drained;
        // reads are crowded into the time in which the interface is open
        open = m.direct > 0 ? 1.0 : std::max(1.0 - (interface - commanded), 0.1);
        const double dies = reading + interrupted * programming + programs;  // share of their time
        load = std::max(interface, dies);
        busy = 1.0 - std::max(1.0 - interface, 0.0) * std::max(1.0 - reading, 0.0) * (1.0 - programming);
        const double passing = passing_among(all_flushes, all_flushes.sources);
        passing_s = passing_among(all_flushes, all_flushes.sources - 1.0);
        const double at_die = waiting(seen, m.die_s, 1.0, reads / m.dies, reading, m.die_s / 2.0);
        const double program = programming * std::max(1.0 - seen * reading, 0.0) * m.program_s / 2.0;
        read_wait_s = passing + at_die + program;

        // The buffer has no room while a heap larger than it drains, or if what comes is all that the dies can do.
        const double full = power(std::min(dies, 1.0), 32.0), slower = std::max(1.0 - reading - interrupted, 0.02);
        const double heap_s = (m.direct > 0 ? behind.batch : behind.heap) * drain;
        const double often = (m.direct > 0 ? behind.trickling : behind.heaped) / std::max(heap_s, TINY);
        // pages that daemons write together drain while they pass the interface
        const double passed_s = m.direct > 0 ? behind.batch * m.interface_write_s : 0.0;
        const double absorbed = std::max(heap_s - passed_s - m.buffer_s, 0.0) / slower;
        const bool queued = is_alone && m.direct <= 0;
        double after = 0.0;
        if (queued) {
            // a chunk with what comes meanwhile: into the buffer as fast as the interface takes it, then as it drains
            const double chunk = behind.chunk / std::max(1.0 - behind.heaped, 0.05), chunk_s = chunk * drain;
            const double all_s = std::max(chunk * m.interface_write_s, std::max(chunk_s - m.buffer_s, 0.0) / slower);
            heaps = chunk > 0.0 ? std::min(behind.heaped / chunk_s * all_s / open, 1.0) : 0.0;
            heap_wait_s = chunk > 0.0 ? std::min((m.parities > 0 ? REWRITES : WRITES) / chunk, 1.0) * all_s : 0.0;
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
        log_wait_s =
            into + (m.direct > 0 ? (is_alone ? passing_s : passing) : passing_among(is_alone ? flushes : none, 0.0));
        // the backlog rises to a heap's, or to a full buffer's and stays there until the rest of the heap has come
        const double among = std::min(heap_s, m.buffer_s) / slower;
        const double lasts = among + absorbed;
        draining = std::min(often * lasts, 1.0);
        backlog_s = full * m.buffer_s + (1.0 - full) * among * (among / 2.0 + absorbed) / std::max(lasts, TINY);
        batch_s = m.acknowledged_s + (m.direct > 0 ? passing * (1.0 + m.doubled) : 0.0) +
                  behind.batch * ((1.0 + m.doubled) * m.interface_write_s +
                                  full * std::max(drain / slower - m.interface_write_s, 0.0)) +
                  (m.direct > 0 ? absorbed : 0.0);
    }

private:
    // What a flush that is done alone waits for reads under way, of which each takes so long.
    static double emptied(double read_s, double reads) {
        const double under_way = reads * read_s;
        return read_s * under_way / (1.0 + under_way);
    }
};

}  // namespace oltpsim
