// The C interface of the analytic engine: a workload is created from tables, machines that run it are solved one by
// one, each a row of numbers. No exception crosses it: a call that fails returns 0 or a null pointer, with a sentence
// in `error`.
#include <cstdio>
#include <exception>
#include <memory>

#include "rate.hpp"

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

// Machines, (count, width): numbers, tables, then by class path, section and network times, by lock path times, and if
// the rows are long enough two places of each group. `rates`: null to look for them. Writes rows of figures, those of
// classes and locks behind them; and of groups if `groups` isn't null.
OLTPSIM_API std::int64_t oltpsim_solve(const void* handle, const double* machines, std::int64_t count,
                                       std::int64_t width, const double* rates, double* figures, double* groups,
                                       char* error, std::int64_t error_size) {
    return guarded(error, error_size, [&] {
        const Workload& w = *static_cast<const Workload*>(handle);
        AtRate state(w);
        const i64 least = MACHINE_NUMBERS + 3 * w.classes + w.locks;
        if (width != least && width != least + 2 * w.groups)
            throw std::invalid_argument("rows of machines have another width");
        for (i64 number = 0; number < count; number++, machines += width) {
            Machine m;
            std::copy(machines, machines + MACHINE_NUMBERS, reinterpret_cast<double*>(&m));
            m.path_s = machines + MACHINE_NUMBERS;
            m.section_s = m.path_s + w.classes, m.network_s = m.section_s + w.classes;
            m.path_before_s = m.network_s + w.classes;
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
