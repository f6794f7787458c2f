// The C interface of the kernel: create it from a record, let time pass, read records, free it. No exception crosses
// it: a call that fails returns 0 or a null pointer, with a sentence in `error`, which begins with "internal: " where
// no input explains it.
#include "kernel.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "report.hpp"

namespace {

using namespace oltpsim;

struct Handle {
    Kernel kernel;
    Report report{};  // rows of the record that was read last
    form::KernelFigures figures{};
    form::Values values{};
    form::State state{};
};

void say(char* error, i64 error_size, const char* before, const char* problem) noexcept {
    std::snprintf(error, static_cast<std::size_t>(error_size), "%s%s", before, problem);
}

template <class Work>
bool guarded(char* error, i64 error_size, Work work) noexcept {
    try {
        work();
        return true;
    } catch (const TooLarge& problem) {
        say(error, error_size, "", problem.what());
    } catch (const std::bad_alloc&) {
        say(error, error_size, "", "the system does not fit into memory; simulate a smaller system");
    } catch (const std::exception& problem) {
        say(error, error_size, "internal: ", problem.what());
    } catch (...) {
        say(error, error_size, "internal: ", "something that is no exception was thrown");
    }
    return false;
}

// A record that Python has packed, which says how many words it has.
template <class Record>
const Record& checked(const Record* record, i64 words) {
    if (words * 8 != static_cast<i64>(sizeof(Record)))
        throw std::invalid_argument("a record has " + std::to_string(words) + " words where " +
                                    std::to_string(sizeof(Record) / 8) + " are needed");
    return *record;
}

template <class Read>
const void* read(void* handle, char* error, i64 error_size, Read fill) noexcept {
    const void* record = nullptr;
    guarded(error, error_size, [&] { record = fill(*static_cast<Handle*>(handle)); });
    return record;
}

}  // namespace

#define OLTPSIM_API extern "C" __attribute__((visibility("default")))

// Changes with every change of this file's functions.
OLTPSIM_API std::int64_t oltpsim_interface_version() { return 3; }

// Layout of the records, as JSON: Python fills and reads them by it.
OLTPSIM_API const char* oltpsim_layout() { return form::LAYOUT; }

// Memory that the system takes, bytes; 0 if the record is wrong.
OLTPSIM_API std::int64_t oltpsim_bytes_needed(const form::SeededRun* run, std::int64_t words, char* error,
                                              std::int64_t error_size) {
    i64 bytes = 0;
    guarded(error, error_size, [&] { bytes = Kernel::bytes_needed(checked(run, words)); });
    return bytes;
}

// The start state is read before it returns; the run stays as long as the kernel.
OLTPSIM_API void* oltpsim_create(const form::SeededRun* run, std::int64_t words, const form::StartState* state,
                                 std::int64_t state_words, char* error, std::int64_t error_size) {
    std::unique_ptr<Handle> handle;
    const bool done = guarded(
        error, error_size, [&] { handle.reset(new Handle{Kernel(checked(run, words), checked(state, state_words))}); });
    return done ? handle.release() : nullptr;
}

// `now_ns`: the time then, which is earlier if all work is done.
OLTPSIM_API std::int64_t oltpsim_run(void* handle, std::int64_t until_ns, std::int64_t* now_ns, char* error,
                                     std::int64_t error_size) {
    return guarded(error, error_size, [&] {
        static_cast<Handle*>(handle)->kernel.run(until_ns);
        *now_ns = static_cast<Handle*>(handle)->kernel.now_ns();
    });
}

// Records that stay until the next one is read.
OLTPSIM_API const void* oltpsim_figures(void* handle, char* error, std::int64_t error_size) {
    return read(handle, error, error_size, [](Handle& of) { return &(of.figures = of.kernel.figures(of.report)); });
}

OLTPSIM_API const void* oltpsim_values(void* handle, char* error, std::int64_t error_size) {
    return read(handle, error, error_size, [](Handle& of) { return &(of.values = of.kernel.values(of.report)); });
}

OLTPSIM_API const void* oltpsim_state(void* handle, char* error, std::int64_t error_size) {
    return read(handle, error, error_size, [](Handle& of) { return &(of.state = of.kernel.state(of.report)); });
}

OLTPSIM_API void oltpsim_free(void* handle) { delete static_cast<Handle*>(handle); }
