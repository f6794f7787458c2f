// Page cleaners: which dirty pages they write at a rate, by age and at the list's end. Per transaction.
//
// A page becomes dirty by a change while it is clean, and stays so for S transactions: for H, after which adaptive
// flushing writes it (simulator/form/flushing.py), unless it comes to the end of the list first, which is kept clean.
// That is where nobody has referred to it for a time a, which comes after L = (1 / missing - 1) / rate on average, the
// mean time until a gap of that length among references at random; the time beyond a is taken as exponential. In a list
// with a midpoint a is how long a page stays that was only read, which a new one doesn't begin with. So a page
// is dirty for the share c S / (1 + c S) of the time, c being its changes per transaction. H is the age, as log since
// the first change, at which the rules ask for as many pages as become so old, and the cleaners get as many written.
#pragma once
#include "buffer_pool.hpp"

namespace oltpsim {

struct PageCleaners {
    double age = 0;         // age at which a page that was read comes to the list's end
    double dirty = 0;       // buffers, mean
    double ended = 0;       // pages written at the list's end
    double old_enough = 0;  // pages written by age
    double victims = 0;     // pages of `ended` that whoever needs the buffer writes
    double batch = 1;       // pages that a cleaner hands to the disks at once: what is due in a round, or a whole batch
    double files = 1;       // files flushed behind such a batch
    double horizon = 0;     // transactions after which a change is old enough
    double log_full = 0;    // nearness of commits to waiting for room in the log: above 1 if it can't have any

    // Before the first rate of a machine.
    void prepare() { near = 0.0; }

    void solve(const Workload& workload, const Machine& machine, const BufferPool& pool, double rate, double page_s) {
        find_ends(workload, machine, pool);
        merged = pool.merged;
        merged_change = pool.merged_change;
        const double log_bytes = std::max(workload.log_bytes_mean, TINY);
        // The cleaners of ages and those of the list's end have batches of their own, which take turns at the disks. A
        // flash disk's time for a batch has that in it (storage.hpp), but not that both share what write-back may have
        // on its way.
        const double most = machine.cleaners.number / std::max(page_s * rate, LEAST);
        const bool share_room = machine.writing.synced > 0 && machine.write_back.in_flight_pages <
                                                                  machine.cleaners.number * machine.writing.batch_pages;
        const double in_turn =
            machine.is_flash() && !machine.is_ssd() && !machine.is_limited() && !share_room ? most : most / 2.0;
        const auto too_late = [&](double t) {
            const double age_most = exp_of(t);
            stay_dirty(workload, age_most);
            const double by_age_per_s =
                at_share(machine.cleaners.aged_per_s, age_most * log_bytes / machine.cleaners.redo_bytes);
            const double by_number_per_s =
                at_share(machine.cleaners.dirty_per_s, dirty / std::max(machine.pool.buffers, 1.0));
            const bool at_once = age_most * log_bytes >= machine.cleaners.redo_sync_bytes;
            const double due = (at_once ? ENDLESS : std::max(by_age_per_s, by_number_per_s)) / rate;
            const double written = std::min(due, std::max(most - ended, in_turn));
            return log_of(std::max(written, LEAST) / std::max(old_enough, LEAST));
        };
        const double latest = log_of(std::max(machine.cleaners.redo_full_bytes / log_bytes, 1.0));
        near = root_near(too_late, clip(near, 0.0, latest), 0.0, latest, 1e-7);
        horizon = exp_of(near);
        const bool too_young = horizon > machine.pool.done;  // since the start no change is so old
        if (too_young) horizon = std::max(machine.pool.done, 1.0);
        stay_dirty(workload, horizon);
        if (too_young) old_enough = 0.0;
        victims = std::max(ended - std::max(most - old_enough, in_turn), 0.0);
        // They look once a round: what is logged until they have written must find room beyond the age at which they
        // begin.
        const double busy = old_enough / std::max(most - ended, in_turn);
        const double at_end = ended / std::max(most - old_enough, in_turn);
        // A round that lasts longer than its interval, for its batch, finds more due: the batch grows with it.
        batch = 0.0;
        for (int number = 0; number < ROUNDS; number++) {
            const double lasts_s = machine.is_flash() ? page_s * batch : 0.0;
            const double tail_transactions =
                std::min(rate * std::max(machine.cleaners.tail_round_s, lasts_s),
                         machine.cleaners.tail_evictions / std::max(pool.brought_mean + pool.merged, TINY));
            const double aged =
                in_round(machine, rate * old_enough * std::max(machine.cleaners.round_s, lasts_s), busy);
            const double last = in_round(machine, ended * tail_transactions, at_end);
            const double before = batch;
            batch = (old_enough * aged + ended * last) / std::max(old_enough + ended, LEAST);
            batch = clip(batch, 1.0, machine.writing.batch_pages);
            if (batch - before < ENOUGH * batch) break;
        }
        files = files_of(workload);
        const double begun_bytes = std::min(horizon * log_bytes, machine.cleaners.redo_sync_bytes);
        const double of_a_round = rate * log_bytes * machine.cleaners.round_s * (1.0 + std::min(busy, 1.0)) /
                                  std::max(machine.cleaners.redo_full_bytes - begun_bytes, TINY);
        log_full = too_young ? 0.0
                             : std::max(busy * std::min(horizon * log_bytes / machine.cleaners.redo_full_bytes, 1.0),
                                        of_a_round);
    }

    // Pages of a group per transaction that are written by age, and at the list's end.
    struct Written {
        double by_age, at_end;
    };
    Written written_of(const Workload& workload, std::size_t g) const {
        const double later = std::max(horizon - age, 0.0), rows = workload.gaps[g] * workload.write[g];
        const double of_drawn = exp_negative(-later / beyond[g]), of_row = exp_negative(-later / of_rows[g]);
        const double drawn = of_group[g] - rows;
        return {drawn * of_drawn + rows * of_row, drawn * (1.0 - of_drawn) + rows * (1.0 - of_row)};
    }

private:
    static constexpr int ROUNDS = 100;       // to look for a batch, at most
    static constexpr double ENOUGH = 1e-9;   // of it
    static constexpr double NEVER = 1e15;    // transactions
    static constexpr double SOONEST = 0.05;  // of the age at the list's end: no step where both meet

    double merged = 0;                            // pages that come in changed, and that nobody asks for
    double merged_change = 0, merged_beyond = 0;  // changes of one of them, and as `beyond`
    Numbers beyond, of_rows;  // by group: mean time beyond `age` until the list's end, of drawn pages and of new ones
    Numbers changes;          // by group, of one page
    Numbers missing;          // scratch
    Numbers of_group;         // pages written, by group
    Numbers of_files;         // scratch of `files_of`: the same by the first of files
    double near = 0;          // logarithm of what was found at the last rate

    // Of so many pages that are due in a round, the batch of one cleaner, which is busy for so much of its time: while
    // it is behind, rounds follow each other at once and batches grow.
    static double in_round(const Machine& machine, double due, double busy) {
        const double each = clip(due / machine.cleaners.number, 1.0, machine.writing.batch_pages),
                     at_once = busy * busy * busy * busy;
        return each + (machine.writing.batch_pages - each) * std::min(at_once, 1.0);
    }

    void find_ends(const Workload& workload, const Machine& machine, const BufferPool& pool) {
        const std::size_t n = at(workload.groups);
        const bool grows = machine.pool.growing > 0;  // nobody comes to its end
        const double time = grows ? pool.time
                                  : std::min(pool.time, workload.characteristic_time(std::max(
                                                            machine.pool.buffers - machine.cleaners.tail_pages, 1.0)));
        age = workload.read_stay(time);
        merged_beyond = std::max(pool.merged_stay - age, SOONEST * age);
        beyond.assign(n, NEVER);
        of_rows.assign(n, NEVER);
        missing.resize(n);
        changes.resize(n);
        for (std::size_t g = 0; g < n; g++)
            changes[g] = workload.rate[g] * workload.write[g] + (workload.puts_aside ? pool.changed_there[g] : 0.0);
        if (grows) return;
        workload.missing_at(time, missing);
        for (std::size_t g = 0; g < n; g++) {
            const bool is_held = workload.puts_aside && workload.put_aside[g] > 0;
            if (workload.rate[g] > 0 && missing[g] > 1e-12) {
                const double stay =
                    is_held ? BufferPool::stay(workload, g, missing[g]) : (1.0 / missing[g] - 1.0) / workload.rate[g];
                beyond[g] = std::max(stay - age, SOONEST * age);
            }
            if (workload.gap[g] > time) of_rows[g] = std::max(SOONEST * age, time - age);
        }
    }

    // Files that have one of a batch's pages, each of which is of any file by their shares of what is written.
    double files_of(const Workload& workload) {
        if (workload.files.empty()) return 1.0;
        of_files.assign(at(2 * workload.most_files), 0.0);
        double all = 0.0, found = 0.0;
        for (std::size_t g = 0; g < of_group.size(); g++) {
            const auto& [first, number] = workload.files[g];
            of_files[at(2 * first)] += of_group[g];
            all += of_group[g];
            of_files[at(2 * first + 1)] = std::max(of_files[at(2 * first + 1)], number);
        }
        for (i64 file = 0; file < workload.most_files; file++) {
            const double number = std::max(of_files[at(2 * file + 1)], 1.0);
            const double share = of_files[at(2 * file)] / std::max(all, LEAST) / number;
            found += number * (1.0 - power(1.0 - std::min(share, 1.0), batch));
        }
        return std::max(found, 1.0);
    }

    // Sets `dirty`, `ended` and `old_enough` of pages that are written so long after their first change.
    OLTPSIM_WIDE void stay_dirty(const Workload& workload, double horizon) {
        const double surely = std::min(horizon, age), later = std::max(horizon - age, 0.0);
        const double old_merged = exp_negative(-later / std::max(merged_beyond, LEAST));
        const double first_stay = surely + merged_beyond * (1.0 - old_merged);
        // a merged page that is written while it stays becomes dirty again by the next change
        const double clean = std::max(age + merged_beyond - first_stay, 0.0);
        const double written = merged * (1.0 + clean * merged_change / (1.0 + merged_change * first_stay));
        dirty = written * first_stay;
        old_enough = written * old_merged;
        ended = written - old_enough;
        of_group.resize(beyond.size());
        for (std::size_t g = 0; g < beyond.size(); g++) {
            const double rows = workload.gaps[g] * workload.write[g];
            const double old = exp_negative(-later / beyond[g]), of_row = exp_negative(-later / of_rows[g]);
            const double stay = surely + beyond[g] * (1.0 - old), row_stay = surely + of_rows[g] * (1.0 - of_row);
            const double drawn = workload.pages[g] * changes[g] / (1.0 + changes[g] * stay);
            of_group[g] = drawn + rows;
            dirty += drawn * stay + rows * std::min(row_stay, workload.gap[g]);
            old_enough += drawn * old + rows * of_row;
            ended += drawn * (1.0 - old) + rows * (1.0 - of_row);
        }
    }

    // A table by shares from 0 to 1.
    static double at_share(const double* table, double share) {
        const double place = clip(share, 0.0, 1.0) * static_cast<double>(SHARE_POINTS - 1);
        const i64 below = std::min(static_cast<i64>(place), SHARE_POINTS - 2);
        return table[below] + (table[below + 1] - table[below]) * (place - static_cast<double>(below));
    }
};

}  // namespace oltpsim
