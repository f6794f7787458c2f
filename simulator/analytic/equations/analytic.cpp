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

}  // namespace

#define OLTPSIM_API extern "C" __attribute__((visibility("default")))

OLTPSIM_API std::int64_t oltpsim_interface_version() { return 1; }

// Columns of rows of machines, then of rows of figures, with spaces between: name:width.
OLTPSIM_API const char* oltpsim_layout() { return LAYOUT; }

// The tables are copied.
OLTPSIM_API void* oltpsim_create(const oltpsim_numbers* tables, std::int64_t count, char* error,
                                 std::int64_t error_size) {
    std::unique_ptr<Workload> workload;
    const bool done = guarded(error, error_size, [&] { workload = std::make_unique<Workload>(tables, count); });
    return done ? workload.release() : nullptr;
}

// Machines, (count, width), are rows of `Parameters`; figures, (count, figures_width), of `Solution`. Columns by group
// may be left out of either. `rates`: null to look for them.
OLTPSIM_API std::int64_t oltpsim_solve(const void* handle, const double* machines, std::int64_t count,
                                       std::int64_t width, const double* rates, double* figures,
                                       std::int64_t figures_width, char* error, std::int64_t error_size) {
    return guarded(error, error_size, [&] {
        const Workload& workload = *static_cast<const Workload*>(handle);
        AtRate state(workload);
        Machine machine;
        bool with_groups = true;
        Widths widths{workload.classes, workload.locks, workload.groups};
        if (RowWidth all{widths}; machine.each(all), all.width != width) {
            widths.groups = 0;
            if (RowWidth least{widths}; machine.each(least), least.width != width)
                throw std::invalid_argument("rows of machines have another width");
        }
        for (i64 number = 0; number < count; number++, machines += width, figures += figures_width) {
            RowReader reader{machines, widths};
            machine.each(reader);
            state.set_machine(machine);
            const double rate = rates != nullptr ? rates[number] : rate_of(state, machine);
            state.set_machine(
                machine);  // so that figures depend on the rate alone, not on those that were tried before
            state.population(rate);
            if (rates == nullptr && !machine.is_open()) {
                for (double below = 1e-9; state.figures.population > BEYOND && below < 1e-2; below *= 10.0) {
                    state.set_machine(machine);
                    state.population(rate * (1.0 - below));
                }
                state.stretch_waits_to_population();
            }
            if (number == 0) with_groups = state.set_parts(true) == figures_width;
            if (state.set_parts(with_groups) != figures_width)
                throw std::invalid_argument("rows of figures have another width");
            RowWriter writer{figures};
            state.figures.each(writer);
        }
    });
}

OLTPSIM_API void oltpsim_free(void* handle) { delete static_cast<Workload*>(handle); }
