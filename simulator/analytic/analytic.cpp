// The C interface of the analytic engine: a workload is created from tables, machines that run it are solved one by
// one, each a row of numbers. No exception crosses it: a call that fails returns 0 or a null pointer, with a sentence
// in `error`.
#include <cstdio>
#include <exception>
#include <memory>

#include "residence.hpp"

namespace {

using namespace oltpsim;

template <class Work>
bool guarded(char* error, i64 error_size, Work work) noexcept {
    const char* problem = "something that is no exception was thrown";
    try {
        work();
        return true;
    } catch (const std::exception& thrown) {
        std::snprintf(error, at(error_size), "%s", thrown.what());
        return false;
    } catch (...) {
        std::snprintf(error, at(error_size), "%s", problem);
        return false;
    }
}

// More of the clients than there are: times beyond a step of the population, for a rate that lies at it.
constexpr double BEYOND = 1.001;

// The rate at which as many clients as there are keep a machine busy; an open machine's is what arrives, if it can.
double rate_of(AtRate& state, const Machine& m) {
    constexpr double TOLERANCE = 1e-11, ENOUGH = 1e-7, FARTHEST = 4.0, NEAR = 1e-2, FULL = 100.0, WIDER = 0.1;
    constexpr int MOST_GUESSES = 4;
    if (m.open() && state.population(m.arrivals_per_s) <= 1.0) return m.arrivals_per_s;
    double most = m.clients / std::max(state.least_s(), TINY);
    if (m.open()) most = std::min(most, m.arrivals_per_s);
    if (m.terminals > 0) most = std::min(most, m.terminals / std::max(m.away_s, TINY));
    // (p - 1) / (p + 1) is nearly straight on both sides of the knee
    const auto too_many = [&](double log_rate) {
        const double taken = state.population(exp_of(log_rate));
        return std::abs(taken - 1.0) <= ENOUGH ? 0.0 : (taken - 1.0) / (taken + 1.0);
    };
    // What the clients would do with the response times at a rate is most often too much if they rise with the rate;
    // and the busiest station sets a bound. Both lead near the root.
    const double top = log_of(most) + 1e-9, bottom = top - 40.0;
    double high = top, at_high = NAN, next = top - 0.5, low = bottom, at_low = NAN;
    for (int number = 0; number < MOST_GUESSES || (std::isnan(at_low) && next > bottom); number++) {
        const double there = too_many(next), taken = std::max(state.figures.population, LEAST);
        if (there == 0.0) return exp_of(next);
        const double unhindered = -log_of(taken), full = -log_of(clip(state.load, 1e-6, 1e6));
        if (there > 0.0) {
            high = next, at_high = there;
            next += std::max(taken > FULL ? std::min(full, 0.0) - NEAR * (1.0 + number) : unhindered - 1e-9, -FARTHEST);
        } else {
            low = next, at_low = there;
            if (low + unhindered < high) high = low + unhindered + 1e-9, at_high = NAN;
            next = low - 0.5 * log_of(exp_of(-2.0 * unhindered) + exp_of(-2.0 * std::max(full, 0.0)));
        }
        if (!std::isnan(at_low) && (next < low + NEAR || next > high - NEAR)) break;
    }
    while (std::isnan(at_high)) {
        at_high = too_many(high);
        if (at_high < 0.0 && high < top)
            low = high, at_low = at_high, high = std::min(high + WIDER, top), at_high = NAN;
    }
    const double found = std::isnan(at_low) ? low : root_between(too_many, low, at_low, high, at_high, TOLERANCE);
    return exp_of(found);
}

constexpr const char* FIGURE_NAMES =
#define X(name) #name " "
    OLTPSIM_FIGURES(X)
#undef X
    ;
constexpr const char* CLASS_NAMES =
#define X(name) #name " "
    OLTPSIM_CLASS_FIGURES(X)
#undef X
    ;
constexpr const char* LOCK_NAMES =
#define X(name) #name " "
    OLTPSIM_LOCK_FIGURES(X)
#undef X
    ;
constexpr const char* GROUP_NAMES =
#define X(name) #name " "
    OLTPSIM_GROUP_FIGURES(X)
#undef X
    ;
constexpr const char* MACHINE_NAMES =
#define X(name) #name " "
    OLTPSIM_MACHINE(X)
#undef X
    ;
constexpr const char* TABLE_NAMES =
#define X(name, points) #name " "
    OLTPSIM_MACHINE_TABLES(X)
#undef X
    ;

double* write(double* place, const Numbers& values) { return std::copy(values.begin(), values.end(), place); }

}  // namespace

#define OLTPSIM_API extern "C" __attribute__((visibility("default")))

OLTPSIM_API std::int64_t oltpsim_interface_version() { return 1; }

// Names in their order, with spaces between: of a machine's numbers and of its tables; of the figures of a solved
// machine, of its classes, of its locks, of its groups of pages.
OLTPSIM_API const char* oltpsim_names(std::int64_t which) {
    constexpr const char* NAMES[] = {MACHINE_NAMES, TABLE_NAMES, FIGURE_NAMES, CLASS_NAMES, LOCK_NAMES, GROUP_NAMES};
    return NAMES[which];
}

// The tables are copied.
OLTPSIM_API void* oltpsim_create(const oltpsim_numbers* tables, std::int64_t count, char* error,
                                 std::int64_t error_size) {
    std::unique_ptr<Workload> workload;
    const bool done = guarded(error, error_size, [&] { workload = std::make_unique<Workload>(tables, count); });
    return done ? workload.release() : nullptr;
}

// Machines, (count, width): numbers, tables, then by class path and section times, by lock path times, and if the rows
// are long enough two places of each group. `rates`: null to look for them. Writes rows
// of figures, those of classes and locks behind them; and of groups if `groups` isn't null.
OLTPSIM_API std::int64_t oltpsim_solve(const void* handle, const double* machines, std::int64_t count,
                                       std::int64_t width, const double* rates, double* figures, double* groups,
                                       char* error, std::int64_t error_size) {
    return guarded(error, error_size, [&] {
        const Workload& w = *static_cast<const Workload*>(handle);
        AtRate state(w);
        const i64 least = MACHINE_NUMBERS + 2 * w.classes + w.locks;
        if (width != least && width != least + 2 * w.groups)
            throw std::invalid_argument("rows of machines have another width");
        for (i64 number = 0; number < count; number++, machines += width) {
            Machine m;
            std::copy(machines, machines + MACHINE_NUMBERS, reinterpret_cast<double*>(&m));
            m.path_s = machines + MACHINE_NUMBERS;
            m.section_s = m.path_s + w.classes, m.path_before_s = m.section_s + w.classes;
            m.left_from = width > least ? m.path_before_s + w.locks : nullptr;
            m.left_to = width > least ? m.left_from + w.groups : nullptr;
            state.machine(m);
            const double rate = rates != nullptr ? rates[number] : rate_of(state, m);
            state.machine(m);  // so that figures depend on the rate alone, not on those that were tried before
            state.population(rate);
            if (rates == nullptr && !m.open()) {
                for (double below = 1e-9; state.figures.population > BEYOND && below < 1e-2; below *= 10.0)
                    state.machine(m), state.population(rate * (1.0 - below));
                state.let_the_others_wait();
            }
#define X(name) *figures++ = state.figures.name;
            OLTPSIM_FIGURES(X)
#undef X
#define X(name) figures = write(figures, state.name);
            OLTPSIM_CLASS_FIGURES(X)
#undef X
            figures = write(figures, state.locks.waiting);
            if (groups == nullptr) continue;
            groups = write(groups, state.pool.missing);
            groups = write(groups, state.pool.misses);
            groups = write(groups, state.pool.faults);
            for (std::size_t g = 0; g < at(w.groups); g++) *groups++ = state.read_of(g);
        }
    });
}

OLTPSIM_API void oltpsim_free(void* handle) { delete static_cast<Workload*>(handle); }
