// Volumes behind limits: a limit lets requests through one by one, and reads wait behind batches of writes.
#pragma once
#include "background_writes.hpp"

namespace oltpsim {

// What a read waits at a limit for a batch of direct writes that came before it: for half of them, if it is there,
// which it is for as long as it needs with what reads leave of the turns. Rates are averaged, not waits.
inline double behind_batch(const BackgroundWrites& writes, double alone, double reads, double turn) {
    const double there = std::min(writes.trickling / writes.active / std::max(1.0 - reads, 0.02), 1.0);
    const double among = alone + std::max(writes.at_once - 1.0, 0.0) / 2.0 * turn * there;
    return 1.0 / (writes.active / among + (1.0 - writes.active) / alone) - alone;
}

// Response at a limit among the batches of page cleaners, which come all the time. Of Q reads and a batch of B
// pages that has come behind them the disk has the batch for Q + B turns, all of it for Q and half of it for the
// rest; and as often as the pages' share of the time asks for, at most always. A read finds what is there, but
// nobody waits for more pages than pass while it is there, which is `once_s`.
inline double among_batches(const BackgroundWrites& writes, double seen, double rate, double left, double once_s,
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

// Bytes of a page that a second limit counts apart: of the two only the one counts that has more to do, since each is
// the sum of what is asked of it.
inline bool is_behind_bytes(const Machine& machine, const PageWrites& writes, const Traffic& traffic) {
    if (machine.volume.apart_page_s <= 0) return false;
    const double copies = machine.writing.doubled * traffic.written;
    const double batch_copies_s = BackgroundWrites::copies_s(machine, writes.batch);
    const double copies_s = copies / std::max(writes.batch, 1.0) * batch_copies_s;
    const double reads = traffic.reads + traffic.merged;
    const double by_requests_s =
        reads * machine.storage.read_s[0] + traffic.requests * machine.storage.write_s[0] + copies_s;
    const double by_bytes_s = (reads + traffic.written + copies) * machine.volume.apart_page_s;
    return by_bytes_s > by_requests_s;
}

// The machine with turns at its limit of bytes.
inline Machine behind_bytes(const Machine& machine) {
    Machine by_bytes = machine;
    const double page_s = machine.volume.apart_page_s;
    by_bytes.storage.page_transfer_s = page_s;
    by_bytes.volume.delay_s = machine.volume.delay_s + machine.storage.read_s[0] - page_s;
    for (double* table :
         {by_bytes.storage.read_s, by_bytes.storage.write_s, by_bytes.swap.read_s, by_bytes.swap.write_s})
        std::fill_n(table, QUEUE_POINTS, page_s);
    return by_bytes;
}

}  // namespace oltpsim
