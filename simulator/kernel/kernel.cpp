// The C interface of the kernel: create it from tables, let time pass, read tables, free it. No exception crosses it:
// a call that fails returns 0 or a null pointer, with a sentence in `error`, which begins with "internal: " where no
// input explains it.
#include "kernel.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "report.hpp"

namespace {

using namespace oltpsim;

struct Handle {
    std::unique_ptr<Kernel> kernel;
    Report report{0};  // the last that was read
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

}  // namespace

#define OLTPSIM_API extern "C" __attribute__((visibility("default")))

// Changes with every change of this file's functions or of the tables that pass through them.
OLTPSIM_API std::int64_t oltpsim_interface_version() { return 2; }

// Memory that the system takes, bytes; 0 if the tables are wrong.
OLTPSIM_API std::int64_t oltpsim_bytes_needed(const oltpsim_table* tables, std::int64_t count, char* error,
                                              std::int64_t error_size) {
    i64 bytes = 0;
    guarded(error, error_size, [&] { bytes = Kernel::bytes_needed(Tables(tables, count)); });
    return bytes;
}

// The tables are read before it returns.
OLTPSIM_API void* oltpsim_create(const oltpsim_table* tables, std::int64_t count, char* error,
                                 std::int64_t error_size) {
    std::unique_ptr<Handle> handle;
    const bool done = guarded(error, error_size, [&] {
        handle = std::make_unique<Handle>();
        handle->kernel = std::make_unique<Kernel>(Tables(tables, count));
    });
    return done ? handle.release() : nullptr;
}

OLTPSIM_API std::int64_t oltpsim_run(void* handle, std::int64_t until_ns, char* error, std::int64_t error_size) {
    return guarded(error, error_size, [&] { static_cast<Handle*>(handle)->kernel->run(until_ns); });
}

// The values stay until the next table is read.
OLTPSIM_API std::int64_t oltpsim_read(void* handle, const char* name, oltpsim_table* table, char* error,
                                      std::int64_t error_size) {
    return guarded(error, error_size, [&] {
        Handle& system = *static_cast<Handle*>(handle);
        Report& report = system.report = system.kernel->report(name);
        const i64 width = std::max<i64>(report.width, 1);
        *table = {name, report.columns.c_str(), report.values.data(), report.values.size() / width, width};
    });
}

OLTPSIM_API void oltpsim_free(void* handle) { delete static_cast<Handle*>(handle); }
