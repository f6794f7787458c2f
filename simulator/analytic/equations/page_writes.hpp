// Page writes of the buffer pool at a rate, and their write-back by the operating system. Per transaction.
//
// A page that reaches an age without a reference is written: by the writer, if there are too many dirty ones, or by
// whoever needs its buffer. A checkpoint writes what is dirty and has not been written before its turn comes. Page
// cleaners have no checkpoints (page_cleaners.hpp). In the page cache a dirty page stays until it is old enough, until
// write-back has a turn for it, or until there are too many.
#pragma once
#include "page_cleaners.hpp"

namespace oltpsim {

struct PageWrites {
    double age = 0;                             // at which dirty pages are written
    double cycle = 0;                           // from one checkpoint to the next
    double aged = 0;                            // pages written because of their age
    double victims = 0;                         // those of them that whoever needs the buffer writes
    double reach = 1;                           // share of them that reach the disks
    double burst = 1;                           // pages written together because of their age
    double checkpoint = 0, heap_pages = 0;      // pages that checkpoints write; that one checkpoint writes
    double aged_heap = 1, checkpoint_heap = 1;  // pages that the page cache hands to the disks together, of both
    double active = 1;                          // share of time in which pages are written
    double dirty = 0;                           // buffers, mean
    double batch = 1;             // pages that writer and checkpoint, or a page cleaner, hand to the disks at once
    double together = 1;          // those of all page cleaners
    double files = 1;             // flushed behind a batch that is written twice
    double images = 0;            // pages that the log has whole since the last checkpoint
    double log_bytes = 0;         // with theirs
    double log_full = 0;          // how near page cleaners are to letting commits wait: 1 if those would have to
    Numbers aged_of, heap;        // by group
    Numbers changed, left_dirty;  // share of pages changed since they came in; that leave dirty or are written by age
    Numbers missing;              // scratch: shares at `age`

    void solve(const Workload& workload, const Machine& machine, const BufferPool& pool, double rate, double page_s) {
        const std::size_t n = at(workload.groups);
        for (Numbers* by_group : {&aged_of, &heap, &changed, &left_dirty, &missing, &again, &among, &once, &most_dirty,
                                  &different, &dirty_of})
            by_group->assign(n, 0.0);
        log_full = images = 0.0;
        log_bytes = workload.log_bytes_mean;
        batch = together = machine.writing.batch_pages;
        files = 1.0;
        if (machine.has_cleaners()) return by_page_cleaners(workload, machine, pool, rate, page_s);
        const double time = pool.time, full = workload.dirty_at(time);
        // The writer is as slow as the disks, and as seldom as the number of dirty pages rises from its low mark to the
        // high one. What it is too slow for stays dirty for longer; at last whoever needs the buffer writes it.
        const double writer_page_s = machine.is_direct() ? page_s : machine.cpu.page_write_s / machine.cpu.speed;
        // Share of what reaches its age that the writer cleans before: none of it while there are too few dirty pages.
        double by_writer_most = 0.0, wanted = 0.0, acts = 0.0;
        age = time;
        if (full > machine.pool.dirty_high) {
            const double between = std::max(machine.pool.dirty_high - machine.pool.dirty_low, 1.0);
            by_writer_most = 1.0 / std::max(writer_page_s * rate, LEAST);
            const double soonest =
                std::min(workload.age_of_dirty((machine.pool.dirty_high + machine.pool.dirty_low) / 2.0), time);
            const double gently = begins_late(workload, machine) ? GENTLY : MORE_GENTLY;
            acts =
                std::min((full - machine.pool.dirty_high) / std::max(between, gently * machine.pool.dirty_high), 1.0);
            double most = acts * by_writer_most;
            if (!workload.is_clock) {
                const double rises_for = std::max(
                    workload.age_of_dirty(machine.pool.dirty_high) - workload.age_of_dirty(machine.pool.dirty_low),
                    1.0);
                wanted = between / rises_for * acts;
                most = by_writer_most = std::min(wanted, by_writer_most);
                if (begins_late(workload, machine)) {
                    const double at_work = std::min(between / rises_for, 1.0 / std::max(writer_page_s * rate, LEAST));
                    const double old = workload.leaving_dirty(time);
                    most = old + acts * std::max(at_work - old, 0.0);
                    by_writer_most = acts * at_work;
                }
            }
            const auto too_slow = [&](double t) { return most - workload.leaving_dirty(exp_of(t)); };
            age = exp_of(root_between(too_slow, log_of(soonest), log_of(time), 1e-6));
        }
        const double interval = until_checkpoint(workload, machine, rate);
        if_none_cleaned(workload, age);
        // A checkpoint lasts as long as its pages take, if that is longer than its interval.
        const bool by_log = interval < rate * machine.checkpoints.interval_s;
        const double checkpoint_s = by_log ? interval / rate : machine.checkpoints.interval_s;
        const double spread_s = by_log ? machine.checkpoints.spread_s * (checkpoint_s / machine.checkpoints.interval_s)
                                       : machine.checkpoints.spread_s;
        double spread = rate * spread_s;
        cycle = std::max(interval, 1.0);
        heap_pages = checkpointed(workload, cycle, spread);
        if (heap_pages * page_s > checkpoint_s) {
            const double longest = std::max(rate * full * page_s, cycle);
            const auto too_long = [&](double t) {
                const double c = exp_of(t);
                return log_of(c / (rate * checkpointed(workload, c, std::max(spread, c - interval)) * page_s));
            };
            near_cycle = root_near(too_long, near_cycle, log_of(cycle), log_of(longest), 1e-7);
            cycle = exp_of(near_cycle);
            spread = std::max(spread, cycle - interval);
        }
        double begins = age;  // time from a checkpoint until pages are written because of their age
        if (acts > 0.0 && begins_late(workload, machine)) {
            if_none_cleaned(workload, time);
            begins = clip(until_high(workload, machine, spread / cycle), age, time);
            if_none_cleaned(workload, age);
        }
        heap_pages = checkpointed(workload, cycle, spread);
        // a checkpoint that takes its time finds a page dirty if it has not been written since, or is dirty again
        found_dirty(workload, begins, found_late(spread), machine.pool.growing > 0 ? 0.0 : 1.0);
        dirty = total(dirty_of);
        double by_age = total(aged_of);
        aged = by_age;
        victims = std::max(by_age - by_writer_most, 0.0);
        if (workload.is_clock && acts > 0.0) {
            wanted = at_the_hand(workload, machine, pool, by_age);
            aged = std::min(wanted, std::max(by_writer_most, by_age));
            victims = std::max(aged - by_writer_most, by_age * (1.0 - acts));
            by_age = aged;
        }
        double cleaned = 0.0;
        for (std::size_t g = 0; g < n; g++) cleaned += again[g] + once[g];
        const double scale = by_age / std::max(cleaned, LEAST);
        for (std::size_t g = 0; g < n; g++) aged_of[g] = (again[g] + once[g]) * scale;
        const double crowded = written_back(machine, rate, cleaned);
        const double in_cache =
            machine.writing.pushed > 0 ? victims / std::max(by_age, LEAST) : 1.0;  // the others are pushed
        reach = 1.0 - (1.0 - reach) * in_cache;
        const double by_writer =
            (machine.pool.dirty_high - machine.pool.dirty_low) * (1.0 - victims / std::max(by_age, LEAST));
        const double at_once = std::max(std::max(by_writer, rate * by_age * machine.write_back.interval_s), 1.0);
        images_in(workload, machine, cycle);
        heap_pages = total(heap);
        checkpoint = heap_pages / cycle;
        const double per_s = heap_pages / std::max(spread_s, machine.write_back.interval_s);
        burst = std::max(at_once, crowded * machine.page_cache.dirty_limit_pages);
        aged_heap = std::max(std::min(at_once, machine.write_back.in_flight_pages),
                             crowded * machine.page_cache.dirty_limit_pages);
        checkpoint_heap =
            std::max(std::min(per_s * machine.write_back.interval_s, machine.write_back.in_flight_pages),
                     crowding_by(machine, per_s) * std::min(heap_pages, machine.page_cache.dirty_limit_pages));
        if (machine.writing.pushed > 0) {
            aged_heap = in_cache * aged_heap + (1.0 - in_cache) * std::min(aged_heap, batch);
            checkpoint_heap = std::min(checkpoint_heap, batch);
        }
        const double lasts = clip(std::max(spread_s, heap_pages * page_s) / checkpoint_s, 0.0, 1.0);
        active = clip((by_age + checkpoint * lasts) / std::max(by_age + checkpoint, LEAST), 0.01, 1.0);
    }

    // Pages that are written together.
    struct Heap {
        double requests = 0;  // that they make
        double as_even = 1;   // pages that would lie as near to each other if they were spread evenly over the file
    };

    // Pages of each group that are written together: neighbours make one request, up to `merged_pages`. A run ends
    // where the next page on the device isn't written; those that a frontier leaves lie in a row. Dirty pages lie close
    // to each other where the hot ones are: `as_even` is a geometric mean over them.
    Heap merged(const Workload& workload, const Machine& machine, const Numbers& pages) {
        const std::size_t n = at(workload.groups);
        for (std::size_t g = 0; g < n; g++) written[g] = clip(pages[g] / std::max(workload.pages[g], LEAST), 0.0, 1.0);
        const double file = std::max(total(workload.pages), 1.0);
        double ends = 0.0, drawn = 0.0, density = 0.0;
        in_rows.assign(workload.rows.size(), 0.0);
        for (std::size_t g = 0; g < n; g++) {
            if (workload.row_of[g] >= 0) {
                in_rows[at(workload.row_of[g])] += pages[g];
                continue;
            }
            double beside = 0.0;
            for (i64 k = workload.first_neighbour[g]; k < workload.first_neighbour[g + 1]; k++)
                beside += workload.neighbours[at(k)].share * written[at(workload.neighbours[at(k)].group)];
            ends += pages[g] * (1.0 - beside);
            drawn += pages[g];
            density += pages[g] * log_of(std::max(beside, 1.0 / file));
        }
        double requests = cut(drawn, ends, machine.storage.merged_pages), rows = 0.0;
        for (std::size_t r = 0; r < workload.rows.size(); r++) {
            const double places = workload.rows[r] * machine.storage.disks / machine.storage.disks_per_file;
            requests += cut(in_rows[r], places * one_minus_exp(in_rows[r] / places), machine.storage.merged_pages);
            rows += in_rows[r];
        }
        const double all = drawn + rows;
        return {requests, std::max(all, all > 0 ? file * exp_of(density / all) : 1.0)};
    }

    // What the disks take for a page of a checkpoint out of the page cache, if they do nothing else.
    double written_back_s(const Workload& workload, const Machine& machine) {
        const double pages = std::max(heap_pages, 1.0);
        const Heap together = merged(workload, machine, heap);
        const double pages_each = std::max(pages / std::max(together.requests, 1.0), 1.0);
        const double each = machine.disk_writes(pages_each) / machine.storage.disks / machine.storage.parallel;
        const double request_s =
            at_queue(machine.storage.write_s, std::max(together.as_even, together.requests) * each / 2.0) +
            machine.longer_s(pages_each / machine.units(pages_each));
        return request_s * each / pages_each;
    }

    // Before the first rate of a machine.
    void prepare() {
        near_cycle = near_until = near_stays = 0.0;
        near_high = INFINITY;
        page_cleaners.prepare();
    }

    void make_space(const Workload& workload) { written.assign(at(workload.groups), 0.0); }

private:
    Numbers again, among, once;   // pages written per transaction: again and again, among so many; and only once
    Numbers different, dirty_of;  // scratch of `distinct` and of `found_dirty`
    Numbers most_dirty, written, in_rows;  // `most_dirty`: share of a group's pages, if no checkpoint cleans them
    PageCleaners page_cleaners;
    double near_cycle = 0, near_until = 0, near_stays = 0, near_high = 0;  // logarithms of what was found before
    double stays = 0;                                                      // how long a page stays without a reference
    static constexpr double CLOCK_STAY = 5.5;                              // revolutions of a page of full usage count
    // Of its high mark, over which a writer begins to work; assumptions, without which rates would have a step.
    static constexpr double GENTLY = 0.02, MORE_GENTLY = 0.2;

    void by_page_cleaners(const Workload& workload, const Machine& machine, const BufferPool& pool, double rate,
                          double page_s) {
        page_cleaners.solve(workload, machine, pool, rate, page_s);
        age = page_cleaners.age;
        dirty = page_cleaners.dirty;
        reach = active = 1.0;
        aged = page_cleaners.ended;
        victims = page_cleaners.victims;
        checkpoint = page_cleaners.old_enough;
        files = page_cleaners.files;
        log_full = page_cleaners.log_full;
        batch = page_cleaners.batch;
        together = batch * machine.cleaners.number;
        if (machine.writing.synced > 0) into_page_cache(workload, pool);
    }

    // What page cleaners write into the page cache: by age as checkpoints would every `horizon`, and at the list's end.
    void into_page_cache(const Workload& workload, const BufferPool& pool) {
        cycle = std::max(page_cleaners.horizon, 1.0);
        workload.missing_at(age, missing);
        for (std::size_t g = 0; g < at(workload.groups); g++) {
            const PageCleaners::Written of = page_cleaners.written_of(workload, g);
            const bool drawn = workload.rate[g] > 0;
            heap[g] = of.by_age * cycle;
            changed[g] = drawn ? dirty_share(workload.write[g], 1.0 - missing[g])
                               : (workload.recent[g] > 0 ? 1.0 : workload.write[g]);
            // what windows remember was written since it was new, at the list's end or a little before
            const double leaving = drawn ? pool.misses[g] : of.by_age + of.at_end;
            const double at_end = clip(of.at_end / std::max(leaving * changed[g], LEAST), 0.0, 1.0);
            left_dirty[g] = workload.recent[g] > 0 ? 1.0 : changed[g] * at_end;
        }
    }

    // Bytes of the log in so many transactions from a checkpoint on.
    static double logged(const Workload& workload, const Machine& machine, double transactions) {
        const double images = machine.checkpoints.image_bytes > 0
                                  ? machine.checkpoints.image_bytes * changed_in(workload, transactions)
                                  : 0.0;
        return transactions * workload.log_bytes_mean + images;
    }

    // Pages changed at least once in so many transactions, new ones left out: those that the log has whole.
    static double changed_in(const Workload& workload, double time) {
        double pages = 0.0;
        for (std::size_t g = 0; g < at(workload.groups); g++) {
            const double changes = workload.rate[g] * workload.write[g] * time;
            pages += workload.pages[g] * one_minus_exp(std::min(changes, 700.0)) +
                     workload.gaps[g] * workload.write[g] * workload.read[g] * time;
        }
        return pages;
    }

    // Transactions from the beginning of one checkpoint to the next: its interval, or as much log as may come.
    static double until_checkpoint(const Workload& workload, const Machine& machine, double rate) {
        const double interval = rate * machine.checkpoints.interval_s;
        const auto too_much = [&](double t) {
            return log_of(logged(workload, machine, exp_of(t)) / machine.checkpoints.log_bytes);
        };
        if (!std::isfinite(machine.checkpoints.log_bytes) || !(workload.log_bytes_mean > 0.0) ||
            too_much(log_of(interval)) <= 0.0)
            return interval;
        return exp_of(root_between(too_much, log_of(std::min(1.0, interval)), log_of(interval), 1e-7));
    }

    // Sets `images` and `log_bytes`, if a checkpoint begins every `between` transactions.
    void images_in(const Workload& workload, const Machine& machine, double between) {
        if (!(machine.checkpoints.image_bytes > 0)) return;
        images = changed_in(workload, between) / between;
        log_bytes = workload.log_bytes_mean + machine.checkpoints.image_bytes * images;
    }

    // Share of a group's pages in the pool that are dirty: one of the references since it came in has changed it, and
    // their number is geometric.
    static double dirty_share(double write, double found) {
        return write / std::max(1.0 - found * (1.0 - write), 1e-300);
    }

    // Requests for pages that lie in so many runs, if one takes `most` pages: the runs' lengths are geometric.
    static double cut(double pages, double runs, double most) {
        if (pages <= 0) return 0.0;
        return runs / (1.0 - power(clip(1.0 - runs / pages, 0.0, 0.999), most));
    }

    // Sets `heap`, the pages that a checkpoint writes, and returns their number, if one begins every `between`
    // transactions and writes its pages spread over `spread`. It writes what is dirty when it begins: a page that the
    // last one has cleaned late has had the less time since; one that was clean then has had all of it.
    OLTPSIM_WIDE double checkpointed(const Workload& workload, double between, double spread) {
        const double *rate = workload.rate.data(), *write = workload.write.data(), *pages = workload.pages.data(),
                     *gap = workload.gap.data();
        const double *gaps = workload.gaps.data(), *most = most_dirty.data();
        const std::size_t n = heap.size();
        const double late = std::min(spread, between), stay = std::min(between, stays);
        double* to_write = heap.data();
#pragma GCC ivdep
        for (std::size_t g = 0; g < n; g++) {
            const double changes = rate[g] * write[g], y = clip(changes * late, 1e-9, 600.0);
            const double whole = exp_negative(-changes * between), early = mean_growth(y) * whole;
            const double chance = (1.0 - whole) / (1.0 + std::min(early, 1.0) - whole);
            to_write[g] = pages[g] * std::min(chance, most[g]) + gaps[g] * write[g] * std::min(stay, gap[g]);
        }
        return total(heap);
    }

    // Sets by group what is dirty, what is written by age if that is `share_of_age` of what reaches it, and what of
    // `heap` a checkpoint finds dirty still, if it finds `found_late` of what was clean when it began. `begins`: time
    // from a checkpoint until pages are written because of their age.
    OLTPSIM_WIDE void found_dirty(const Workload& workload, double begins, double found_late, double share_of_age) {
        const double *rate = workload.rate.data(), *write = workload.write.data(), *pages = workload.pages.data(),
                     *gap = workload.gap.data();
        const double *gaps = workload.gaps.data(), *references = workload.references.data(),
                     *recent = workload.recent.data();
        const double *out_at_age = missing.data(), *most = most_dirty.data();
        double *to_write = heap.data(), *by_age = aged_of.data(), *drawn_again = again.data(), *new_once = once.data();
        double *of = among.data(), *now = dirty_of.data(), *change = changed.data(), *left = left_dirty.data();
        const std::size_t n = heap.size();
        const double every = cycle, staying = stays;
#pragma GCC ivdep
        for (std::size_t g = 0; g < n; g++) {
            const bool drawn = rate[g] > 0;
            const double out = out_at_age[g], share = dirty_share(write[g], 1.0 - out), created = gaps[g] * write[g];
            const double part = drawn ? to_write[g] / std::max(pages[g], LEAST) : 0.0;
            const double still = part + (1.0 - part) * found_late;
            const double old = clip(1.0 - begins / every * still, 0.0, 1.0);
            const double of_drawn = drawn ? references[g] * out * share : 0.0;
            const double aged_pages = (of_drawn + created * (gap[g] < INFINITY ? out : 1.0)) * old * share_of_age;
            by_age[g] = aged_pages;
            of[g] = pages[g];
            drawn_again[g] = drawn ? aged_pages : 0.0;
            new_once[g] = drawn ? 0.0 : aged_pages;
            const double y = rate[g] * write[g] * every, longest = std::min(staying, gap[g]);
            const double mean = every < longest ? every / 2.0 : longest - longest * longest / every / 2.0;
            now[g] = pages[g] * std::min(1.0 - one_minus_exp(y) / std::max(y, 1e-12), most[g]) + created * mean;
            to_write[g] *= still;
            const double was_changed = drawn ? share : (recent[g] > 0 ? 1.0 : write[g]);
            change[g] = was_changed;
            left[g] = was_changed * old;
        }
    }

    // Share of the dirty pages that a checkpoint still finds if it writes them spread over so many transactions,
    // evenly. A page was last used since the checkpoint before, evenly too, and is written at its age unless the turn
    // comes first.
    double found_late(double spread) const {
        const auto turns_until = [&](double left) {
            return left < spread ? left * left / (2.0 * spread) : left - spread / 2.0;
        };
        const double least = std::max(age - cycle, 0.0);
        return (turns_until(age) - turns_until(least)) / (age - least);
    }

    // Different pages among those written in so many transactions.
    OLTPSIM_WIDE double distinct(double time) {
        const double *many = again.data(), *few = among.data(), *once_each = once.data();
        double* there = different.data();
        const std::size_t n = different.size();
#pragma GCC ivdep
        for (std::size_t g = 0; g < n; g++) {
            const double pages = std::max(few[g], LEAST);
            there[g] = pages * one_minus_exp(std::min(many[g] * time / pages, 700.0)) + once_each[g] * time;
        }
        return total(different);
    }

    // Transactions in which so many different pages are written.
    double until(double pages) {
        const auto too_many = [&](double t) { return log_of(std::max(distinct(exp_of(t)), LEAST) / pages); };
        near_until = root_near(too_many, near_until, -30.0, 30.0, 1e-6);
        return exp_of(near_until);
    }

    // Pages that write-back can hand to the disks per second: any number, or where reads go first the turns left to it.
    static double most_per_s(const Machine& machine) {
        if (machine.storage.reads_per_write <= 0) return INFINITY;
        const double turns = machine.storage.disks * machine.storage.parallel / machine.disk_writes(1.0) /
                             (1.0 + machine.storage.reads_per_write);
        return turns / machine.storage.write_s[0];
    }

    // How much the page cache's limit of dirty pages is felt, a half if what there is just fits.
    static double crowding(double space) { return 1.0 / (1.0 + power(std::min(space, 1e6), 6.0)); }

    static double crowding_by(const Machine& machine, double pages_per_s) {
        if (machine.is_direct()) return 0.0;
        const double most = std::min(
            machine.page_cache.dirty_limit_pages / (machine.write_back.expire_s + machine.write_back.interval_s / 2.0),
            most_per_s(machine));
        return crowding(most / std::max(pages_per_s, LEAST));
    }

    // Sets `reach`: a page that is written again while it is dirty in the page cache goes to disk once. Returns
    // whether dirty pages wait there until there are too many.
    double written_back(const Machine& machine, double rate, double cleaned) {
        reach = 1.0;
        if (machine.is_direct()) return 0.0;
        const double ages = std::max(rate * (machine.write_back.expire_s + machine.write_back.interval_s / 2.0), 1e-3);
        const double most = std::max(most_per_s(machine) / std::max(rate, LEAST), LEAST);
        double stays = ages, pages = distinct(ages);
        if (pages > machine.page_cache.background_pages) {
            stays = std::min(until(std::max(machine.page_cache.background_pages, 1.0)), ages);
            pages = distinct(stays);
        }
        if (pages / stays > most) {
            const auto too_few = [&](double t) {
                return log_of(most / std::max(distinct(exp_of(t)) / exp_of(t), LEAST));
            };
            near_stays = root_near(too_few, near_stays, log_of(stays), std::max(log_of(stays), 30.0), 1e-6);
            stays = exp_of(near_stays);
            pages = distinct(stays);
        }
        const double limit = std::max(machine.page_cache.dirty_limit_pages, 1.0);
        double crowded = 0.0;
        if (20.0 * pages > limit) {
            const double full = until(limit);
            crowded = crowding(full / stays);
            if (full < stays) {
                stays = full;
                pages = distinct(stays);
            }
        }
        reach = std::min(pages / std::max(stays * cleaned, LEAST), 1.0);
        return crowded;
    }

    // Whether the writer begins when what a checkpoint has cleaned is dirty again, and keeps its marks then. By direct
    // I/O it shares the disks with those who read, and is later and slower than that.
    static bool begins_late(const Workload& workload, const Machine& machine) {
        return !workload.is_clock && !machine.is_direct();
    }

    // Sets the dirty pages of each group, if none but those of an age are cleaned.
    OLTPSIM_WIDE void if_none_cleaned(const Workload& workload, double until_age) {
        workload.missing_at(until_age, missing);
        stays = workload.is_clock ? CLOCK_STAY * until_age : until_age;
        const double *out = missing.data(), *write = workload.write.data();
        double* most = most_dirty.data();
        const std::size_t n = most_dirty.size();
#pragma GCC ivdep
        for (std::size_t g = 0; g < n; g++) most[g] = (1.0 - out[g]) * dirty_share(write[g], 1.0 - out[g]);
    }

    // Transactions from a checkpoint until what it has cleaned is dirty again in such numbers that the writer begins:
    // any number if the next checkpoint comes before. `spread`: share of the time in which a checkpoint writes.
    double until_high(const Workload& workload, const Machine& machine, double spread) {
        const auto too_many = [&](double t) {
            return log_of(std::max(checkpointed(workload, exp_of(t), spread * exp_of(t)), LEAST) /
                          machine.pool.dirty_high);
        };
        const double next = log_of(cycle);
        if (too_many(next) < 0.0) return INFINITY;
        near_high = root_near(too_many, std::min(near_high, next), next - 20.0, next, 1e-6);
        return exp_of(near_high);
    }

    // What the writer of a CLOCK pool cleans: pages that the hand comes to next. It keeps a zone ahead of the hand
    // clean, whatever is hot there, so wide that few enough are dirty in the rest of the dial, where pages are changed
    // again since the hand was there. Pages under a frontier have just come in and lie there. What enters the zone is
    // cleaned once, and what is changed in it at the writer's next turn. Returns the pages written by age.
    double at_the_hand(const Workload& workload, const Machine& machine, const BufferPool& pool, double by_age) {
        const std::size_t n = at(workload.groups);
        const double revolution = pool.time, most = (machine.pool.dirty_high + machine.pool.dirty_low) / 2.0;
        const auto dirty_if = [&](double apart) {
            const double outside = std::min(apart, cycle), part = std::min(apart / revolution, 1.0);
            double sum = 0.0;
            for (std::size_t g = 0; g < n; g++) {
                const double buffers = workload.pages[g] * (1.0 - pool.missing[g]);
                const double y = std::max(workload.rate[g] * workload.write[g] * outside, 1e-9);
                sum += buffers * (1.0 - one_minus_exp(y) / y) * (workload.row_of[g] >= 0 ? 1.0 : part) +
                       workload.gaps[g] * workload.write[g] * std::min(outside, workload.gap[g]);
            }
            return sum;
        };
        const double low = log_of(revolution) - 6.0, high = log_of(revolution) + 6.0;
        double pages = 0.0;
        if (dirty_if(exp_of(high)) > most) {
            // transactions from one cleaning of a page to the next
            const double apart = exp_of(root_between(
                [&](double t) { return log_of(std::max(dirty_if(exp_of(t)), LEAST) / std::max(most, LEAST)); }, low,
                high, 1e-6));
            const double outside = std::min(apart, cycle), inside = std::max(1.0 - apart / revolution, 0.0);
            // after a checkpoint it takes so long until there are as many again
            const double acting = std::max(1.0 - apart / cycle, 0.0);
            for (std::size_t g = 0; g < n; g++) {
                const bool old = workload.row_of[g] < 0;
                const double buffers = old ? workload.pages[g] * (1.0 - pool.missing[g]) : 0.0;
                const double changes = workload.rate[g] * workload.write[g];
                const double enter =
                    (buffers * one_minus_exp(changes * outside) + workload.gaps[g] * workload.write[g] * apart) /
                    std::max(revolution, apart);
                among[g] = inside * buffers;
                again[g] = among[g] * changes;
                once[g] = acting * enter;
            }
            const double turn = until(std::max(machine.pool.dirty_high - machine.pool.dirty_low, 1.0));
            for (std::size_t g = 0; g < n; g++) {
                again[g] = acting * among[g] * one_minus_exp(workload.rate[g] * workload.write[g] * turn) / turn;
                pages += again[g] + once[g];
            }
        } else {
            std::fill(again.begin(), again.end(), 0.0), std::fill(once.begin(), once.end(), 0.0);
        }
        const double left = std::max(1.0 - pages / std::max(by_age, LEAST), 0.0);
        double sum = 0.0;
        for (std::size_t g = 0; g < n; g++) {
            once[g] += left * aged_of[g];
            sum += again[g] + once[g];
        }
        return sum;
    }
};

}  // namespace oltpsim
