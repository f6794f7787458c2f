// Workload: a program read once (workload.py): its classes, row locks, groups of pages that are alike, and how a
// buffer pool of any size holds them, tabulated over its characteristic time.
#pragma once
#include <stdexcept>
#include <string>

#include "numbers.hpp"

// A table across the C interface: rows x width numbers, row by row.
extern "C" struct oltpsim_numbers {
    const char* name;
    const double* values;
    std::int64_t rows;
    std::int64_t width;
};

namespace oltpsim {

// Acquisitions of one kind of row lock by one class, in one transaction of it.
struct LockUse {
    i64 kind, transaction_class;
    double acquisitions;
    double rows;   // in use, all alike
    double apart;  // groups of clients that never ask for each other's rows
};

struct Workload {
    i64 classes = 0, locks = 0, groups = 0, stations = 0, views = 0;
    double think_s = 0, window = 0, offspring = 0;
    bool is_clock = false;

    Numbers mix, awaited, log_bytes, commits, logged, entries;  // by class; `awaited`: the mix that terminals await
    Numbers visits, served_s;                                   // by class and station
    Numbers servers;                                            // by station
    std::vector<LockUse> lock_uses;

    // By group of pages, as in page_groups.py.
    Numbers rate, gap, references, pages, gaps, write, read, recent;
    Numbers put_aside;                            // changes of a transaction that wait if the pool lacks their page
    double put_aside_apart = 0, pages_apart = 0;  // the same of pages that no group has, and how many those are
    bool puts_aside = false;                      // whether there are any
    Numbers share;                                // by view and group: references of one transaction
    Numbers rows;                                 // by region with rows: the number of rows
    std::vector<i64> row_of;                      // by group: place in `rows`, or -1
    struct Files {
        i64 first;
        double number;
    };
    std::vector<Files> files;  // by group: those that are flushed and have its pages; empty if none is
    i64 most_files = 0;        // above all of `first`
    struct Neighbour {
        i64 group;
        double share;
    };
    std::vector<i64> first_neighbour;  // by group, and the end
    std::vector<Neighbour> neighbours;

    // By characteristic time, at equal ratios.
    Numbers times, log_times, missing, unused, old_share, dirty_slopes;
    Curve frames_of_time, time_of_filled, dirty_of_time, time_of_dirty;

    double commits_mean = 0, logged_mean = 0, log_bytes_mean = 0, entries_mean = 0;

    Workload(const oltpsim_numbers* tables, i64 count) : tables(tables), count(count) {
        mix = table("mix");
        awaited = table("awaited");
        log_bytes = table("log_bytes");
        commits = table("commits");
        logged = table("logged");
        entries = table("entries");
        classes = static_cast<i64>(mix.size());
        visits = table("visits");
        served_s = table("served_s");
        servers = table("servers");
        stations = static_cast<i64>(servers.size());
        const Numbers facts = table("facts"), of_locks = table("locks");
        think_s = facts.at(0);
        window = facts.at(1);
        offspring = facts.at(2);
        is_clock = facts.at(3) > 0;
        locks = static_cast<i64>(of_locks.size()) / 5;
        for (i64 k = 0; k < locks; k++) {
            const double* lock = &of_locks[at(5 * k)];
            lock_uses.push_back({static_cast<i64>(lock[0]), static_cast<i64>(lock[1]), lock[2], lock[3], lock[4]});
        }
        rate = table("rate");
        gap = table("gap");
        references = table("references");
        pages = table("pages");
        gaps = table("gaps");
        write = table("write");
        read = table("read");
        recent = table("recent");
        put_aside = table("put_aside");
        pages_apart = put_aside.back();
        put_aside.pop_back();
        put_aside_apart = put_aside.back();
        put_aside.pop_back();
        puts_aside = put_aside_apart + total(put_aside) > 0.0;
        groups = static_cast<i64>(rate.size());
        share = table("views");
        rows = table("rows");
        views = groups > 0 ? static_cast<i64>(share.size()) / groups : classes + locks;
        for (double row : table("row_of")) row_of.push_back(static_cast<i64>(row));
        const Numbers of_files = table("files");
        for (std::size_t i = 0; i + 1 < of_files.size(); i += 2) {
            files.push_back({static_cast<i64>(of_files[i]), of_files[i + 1]});
            most_files = std::max(most_files, files.back().first + 1);
        }
        const Numbers beside = table("beside");
        first_neighbour.push_back(0);
        for (i64 g = 0; g < groups; g++) {
            for (i64 other = 0; other < groups; other++)
                if (beside[at(g * groups + other)] > 0) neighbours.push_back({other, beside[at(g * groups + other)]});
            first_neighbour.push_back(static_cast<i64>(neighbours.size()));
        }
        read_pool_table();
        for (i64 c = 0; c < classes; c++) {
            commits_mean += mix[at(c)] * commits[at(c)];
            log_bytes_mean += mix[at(c)] * log_bytes[at(c)];
            logged_mean += mix[at(c)] * logged[at(c)];
            entries_mean += mix[at(c)] * entries[at(c)];
        }
        this->tables = nullptr;
    }

    double mean(const double* by_class) const {
        double sum = 0.0;
        for (i64 c = 0; c < classes; c++) sum += mix[at(c)] * by_class[c];
        return sum;
    }

    // Share of each group's references that find their page out of a pool of this characteristic time.
    void missing_at(double time, Numbers& found) const { read_at(missing, time, found); }
    // Share of references whose page has not been used for so long, and the pages that have been.
    void unused_at(double time, Numbers& found) const { read_at(unused, time, found); }
    double frames_at(double time) const { return exp_of(frames_of_time(log_of(time))); }

    double characteristic_time(double buffers) const { return exp_of(time_of_filled(log_of(buffers))); }
    // Stay of a page that nobody asks for once it was read, if others stay for such a time after each reference.
    double read_stay(double time) const { return time * on_times(old_share, time); }
    double dirty_at(double time) const { return dirty_of_time(log_of(time)); }
    // Dirty pages per transaction that reach an age without a reference.
    double leaving_dirty(double age) const { return on_times(dirty_slopes, age); }
    double age_of_dirty(double buffers) const { return exp_of(time_of_dirty(buffers)); }

private:
    const oltpsim_numbers* tables;
    i64 count;

    Numbers table(const std::string& name) const {
        for (i64 i = 0; i < count; i++)
            if (name == tables[i].name) return {tables[i].values, tables[i].values + tables[i].rows * tables[i].width};
        throw std::invalid_argument("there is no table " + name);
    }

    // Values by time and group at a time.
    void read_at(const Numbers& values, double time, Numbers& found) const {
        const double step = (log_times.back() - log_times.front()) / static_cast<double>(times.size() - 1);
        const double place =
            clip((log_of(time) - log_times.front()) / step, 0.0, static_cast<double>(times.size() - 1));
        if (!(place >= 0.0)) throw std::domain_error("a time is no number");
        const i64 below = std::min(static_cast<i64>(place), static_cast<i64>(times.size()) - 2);
        const double part = place - static_cast<double>(below);
        const double *low = values.data() + below * groups, *high = low + groups;
        for (i64 g = 0; g < groups; g++) found[at(g)] = low[g] * (1.0 - part) + high[g] * part;
    }

    double on_times(const Numbers& values, double time) const {
        const double step = (log_times.back() - log_times.front()) / static_cast<double>(times.size() - 1);
        const double place =
            clip((log_of(time) - log_times.front()) / step, 0.0, static_cast<double>(times.size() - 1));
        if (!(place >= 0.0)) throw std::domain_error("a time is no number");
        const auto below = std::min(static_cast<std::size_t>(place), times.size() - 2);
        return values[below] + (values[below + 1] - values[below]) * (place - static_cast<double>(below));
    }

    void read_pool_table() {
        times = table("times");
        missing = table("missing");
        unused = table("unused");
        old_share = table("old_share");
        const Numbers filled = table("filled"), dirty = table("dirty");
        Numbers log_filled;
        for (std::size_t i = 0; i < times.size(); i++) {
            log_times.push_back(log_of(times[i]));
            log_filled.push_back(log_of(filled[i]));
        }
        Numbers log_frames = table("frames");
        for (double& pages : log_frames) pages = log_of(pages);
        frames_of_time = {log_times, log_frames}, time_of_filled = {log_filled, log_times};
        dirty_of_time = {log_times, dirty}, time_of_dirty = {dirty, log_times};
        dirty_slopes.assign(times.size(), 0.0);
        for (std::size_t i = 1; i < times.size(); i++) {
            const double step = times[i] - times[i - 1], rise = dirty[i] - dirty[i - 1];
            dirty_slopes[i] += 0.5 * rise / step;
            dirty_slopes[i - 1] += 0.5 * rise / step;
        }
        dirty_slopes.front() *= 2.0;
        dirty_slopes.back() *= 2.0;
    }
};

}  // namespace oltpsim
