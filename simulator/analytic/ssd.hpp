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
    double emptied_s = 0;                // what a flush that is done alone waits for the requests under way

    // Shares of time that the log takes of the dies and of the interface.
    struct Appended {
        double programs = 0, passing = 0;
    };

    // `reads`, `writes`: requests/s of clients; `other`: share of the dies' time for writes that come one by one;
    // `blocked`: clients that a heap may hold up; `flushes`: per second.
    void solve(const Machine& m, const BackgroundWrites& behind, double seen, double reads, double writes, double other,
               const Appended& log, double blocked, double flushes, double batch_flushes) {
        const double drain = m.write_s[0], background = behind.busy + other + log.programs;
        const double programs = writes * drain + background;  // share of the dies' time
        const double of_writes = writes + behind.per_s * (1.0 + m.doubled) + other / drain,
                     commands = reads + of_writes;
        const double commanded = reads * m.interface_read_s + of_writes * m.interface_write_s + log.passing;
        const double command_s = commanded / std::max(commands, TINY);
        const double reading = reads * m.die_s / m.dies;
        const double programming = std::min(programs / std::max(1.0 - reading, TINY), 1.0);
        // A flush that is done alone closes the interface until the requests under way are done and it is, too.
        const double alone_s = m.read_s[0] + programming * m.program_s / 2.0;
        const double of_log = m.closed_s > 0 ? flushes : 0.0, of_batches = m.closed_s > 0 ? batch_flushes : 0.0;
        emptied_s = m.closed_s > 0 ? emptied(alone_s, reads) : 0.0;
        // reads end while a batch's pages pass before its flush
        const double passed_s = behind.batch / std::max(m.cleaners, 1.0) * m.interface_write_s;
        const double closes = of_log + of_batches;
        const double closed =
            closes * m.closed_s + of_log * emptied_s + of_batches * emptied(std::max(alone_s - passed_s, 0.0), reads);
        const double closed_s = closed / std::max(closes, TINY), interface = commanded + closed;
        const double visits = commands + closes, visit_s = interface / std::max(visits, TINY);
        // What passes in bursts is waited for by residence.hpp; in between there is less time for the others.
        const double bursts = clip(behind.bursts(m), 0.0, MOST_BURSTS);
        const double left_s = (commanded * command_s + closes * closed_s * closed_s) / std::max(2.0 * interface, TINY);
        load = std::max(interface, reading + programs);
        busy = 1.0 - std::max(1.0 - interface, 0.0) * std::max(1.0 - reading, 0.0) * (1.0 - programming);
        const double used = std::max(interface - bursts, 0.0) / (1.0 - bursts);
        const double passing = waiting(seen, visit_s, 1.0, used / visit_s, used, left_s);
        const double at_die = waiting(seen, m.die_s, 1.0, reads / m.dies, reading, m.die_s / 2.0);
        const double program = programming * std::max(1.0 - seen * reading, 0.0) * m.program_s / 2.0;
        read_wait_s = passing + at_die + program;

        // The buffer has no room while a heap larger than it drains, or if what comes is all that the dies can do.
        const double full = power(std::min(reading + programs, 1.0), 32.0), slower = std::max(1.0 - reading, 0.02);
        const double heap_s = (m.direct > 0 ? behind.batch : behind.heap) * drain;
        const double heaps = (m.direct > 0 ? behind.trickling : behind.heaped) / std::max(heap_s, TINY);
        // pages that daemons write together drain while they pass the interface
        const double entering_s = m.direct > 0 ? behind.batch * m.interface_write_s : 0.0;
        const double absorbed = std::max(heap_s - entering_s - m.buffer_s, 0.0) / slower;
        double after = 0.0;
        if (absorbed > 0.0 && heaps > 0.0) {
            const double anybody = heaps * absorbed * absorbed / 2.0;
            const double once = blocked * heaps * absorbed / std::max(reads + writes, TINY);
            after = 1.0 / std::sqrt(1.0 / (anybody * anybody) + 1.0 / std::max(once * once, LEAST));
            pause_s = absorbed / 2.0;
        }
        behind_s = after;
        write_wait_s = passing + after + (full + overfull(reading + programs)) * drain;
        // the backlog rises to a heap's, or to a full buffer's and stays there until the rest of the heap has come
        const double among = std::min(heap_s, m.buffer_s) / slower;
        const double lasts = among + absorbed;
        draining = std::min(heaps * lasts, 1.0);
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
