// emulated-disk MOUNTPOINT IMAGE RECORD [--flush-us N] [--full-speed]
//
// Serves an image file as MOUNTPOINT/disk, with the times of the devices in a file with a record: those that the kernel
// simulates, at the pace of the clock. MOUNTPOINT/counters is what they have counted, JSON, at the instant it is
// opened.
//
//   /dev/fuse ──> arrival, data moved at once ──> PacedDevices ──> reply at the instant that they say
//
// Runs in the foreground until it is unmounted, or until SIGTERM or SIGINT, which unmount it. Writes "ready" when it is
// there. SIGUSR1: full speed, without the devices' times; SIGUSR2: with them again.
//
// One thread: a request costs a read of /dev/fuse, a copy from or to the image's page cache, and a write of the reply.
// It sleeps in between, in ppoll: whatever wakes it late delays replies (counted: late_s), but no service.
//
// A flush waits for the writes before it, and Linux holds the file's lock meanwhile (fuse_fsync): later writes don't
// come until it is done, reads do. A disk without a cache of its own is sent no flush if the loop device on it says so:
// "write through" in /sys/block/loopN/queue/write_cache, where it stays, whatever file the device is given next.
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <iostream>
#include <memory>

#include "paced_devices.hpp"
#include "pending.hpp"
#include "record_file.hpp"

namespace oltpsim {
namespace {

constexpr fuse_ino_t DISK = 2, COUNTERS = 3;
constexpr const char *DISK_NAME = "disk", *COUNTERS_NAME = "counters";
constexpr double FOREVER_S = 1e9;         // names and sizes never change
constexpr unsigned MOST_PENDING = 1024;   // requests that the operating system sends before it waits for replies
constexpr unsigned MOST_BYTES = 1 << 20;  // of a request
constexpr i64 NS_PER_S = 1'000'000'000;

volatile std::sig_atomic_t is_to_end = 0, speed_signal = 0;  // the last one that came

void note_signal(int number) {
    if (number == SIGUSR1 || number == SIGUSR2)
        speed_signal = number;
    else
        is_to_end = 1;
}

i64 monotonic_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

struct Options {
    std::string mountpoint, image, record;
    i64 flush_ns = 0;
    bool full_speed = false;
};

struct ServedCounts {
    i64 reads = 0, writes = 0, flushes = 0, discards = 0;
    i64 read_bytes = 0, written_bytes = 0;
    i64 at_full_speed = 0;           // of the reads and writes
    i64 replies = 0;                 // at an instant of the devices
    i64 late_ns = 0, latest_ns = 0;  // between that instant and the reply: in all, at most
};

class EmulatedDisk {
public:
    EmulatedDisk(const Options& options, const form::SeededRun& run)
        : devices(run), flushes(options.flush_ns), is_emulated(!options.full_speed) {
        image = open(options.image.c_str(), O_RDWR | O_CLOEXEC);
        if (image < 0 || fstat(image, &image_stat) != 0)
            throw std::invalid_argument(options.image + ": " + std::strerror(errno));
        if (!S_ISREG(image_stat.st_mode)) throw std::invalid_argument(options.image + ": not a file");
    }
    ~EmulatedDisk() { close(image); }
    EmulatedDisk(const EmulatedDisk&) = delete;
    EmulatedDisk& operator=(const EmulatedDisk&) = delete;

    i64 size_bytes() const { return image_stat.st_size; }

    // Requests

    void read(fuse_req_t request, i64 byte, i64 size) {
        const i32 number = pending.add(request, false, order++);
        std::vector<char>& data = pending[number].data;
        data.resize(static_cast<std::size_t>(std::max<i64>(std::min(size, size_bytes() - byte), 0)));
        arrive();
        i64 filled = 0;
        while (filled < static_cast<i64>(data.size())) {
            const ssize_t got =
                pread(image, data.data() + filled, data.size() - static_cast<std::size_t>(filled), byte + filled);
            if (got <= 0) return fail(number, got < 0 ? errno : EIO);
            filled += got;
        }
        counts.reads++;
        counts.read_bytes += filled;
        serve(number, byte, filled);
    }

    void write(fuse_req_t request, const char* data, i64 byte, i64 size) {
        const i32 number = pending.add(request, true, order++);
        if (byte + size > size_bytes()) return fail(number, ENOSPC);
        arrive();
        i64 written = 0;
        while (written < size) {
            const ssize_t put = pwrite(image, data + written, static_cast<std::size_t>(size - written), byte + written);
            if (put < 0) return fail(number, errno);
            written += put;
        }
        pending[number].size_bytes = size;
        counts.writes++;
        counts.written_bytes += size;
        serve(number, byte, size);
    }

    void flush(fuse_req_t request) {
        counts.flushes++;
        if (is_emulated) {
            let_time_pass();
            flushes.add(request, order++, pending.writes_without_reply(), now_ns);
            let_time_pass();
        } else {
            fuse_reply_err(request, 0);
        }
    }

    // Discards and zeroes go to the image at once: of their time on a disk the models know nothing.
    void discard(fuse_req_t request, int mode, i64 byte, i64 size) {
        counts.discards++;
        const bool zeroes = (mode & FALLOC_FL_ZERO_RANGE) != 0;
        if (byte + size > size_bytes()) {
            fuse_reply_err(request, ENOSPC);
        } else if (zeroes || (mode & FALLOC_FL_PUNCH_HOLE) != 0) {
            const int done = fallocate(image, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, byte, size);
            fuse_reply_err(request, done == 0 ? 0 : errno);
        } else {
            fuse_reply_err(request, 0);
        }
    }

    // Time

    void let_time_pass() {
        now_ns = monotonic_ns() - began_ns;
        devices.advance(now_ns, [this](i32 number, i64 instant_ns) { end(number, instant_ns); });
        flushes.advance(now_ns, [this](i64 instant_ns) { count_reply(instant_ns); });
    }

    // How long nothing is due.
    i64 sleep_ns() const {
        const i64 next_ns = std::min(devices.next_ns(), flushes.next_ns());
        return next_ns == INT64_MAX ? next_ns : std::max<i64>(next_ns + 1 - (monotonic_ns() - began_ns), 0);
    }

    void take_its_time() { is_emulated = true; }
    void hurry() {
        is_emulated = false;
        reply_to_all();
    }
    void reply_to_all() {
        pending.for_each([this](i32 number) { pending.reply(number); });
        flushes.reply_to_all();
    }

    // What has been counted, as JSON.
    std::string counters() {
        let_time_pass();
        std::ostringstream text;
        text.precision(15);
        text << "{\"elapsed_s\": " << seconds(now_ns) << ", \"is_emulated\": " << (is_emulated ? "true" : "false")
             << ", \"has_priority\": " << (sched_getscheduler(0) == SCHED_FIFO ? "true" : "false")
             << ", \"reads\": " << counts.reads << ", \"writes\": " << counts.writes
             << ", \"read_bytes\": " << counts.read_bytes << ", \"written_bytes\": " << counts.written_bytes
             << ", \"flushes\": " << counts.flushes << ", \"discards\": " << counts.discards
             << ", \"requests_at_full_speed\": " << counts.at_full_speed << ", \"replies\": " << counts.replies
             << ", \"late_s\": " << seconds(counts.late_ns) << ", \"latest_s\": " << seconds(counts.latest_ns)
             << ", \"cpu_s\": " << cpu_s() << ", \"devices\": [";
        for (i64 i = 0; i < devices.count(); i++) {
            const Device& device = devices.counted(i);
            const i64 queued_ns = device.queue.area_until(now_ns);
            text << (i > 0 ? ", " : "") << "{\"reads\": " << device.reads << ", \"writes\": " << device.writes
                 << ", \"busy_s\": " << seconds(device.busy_ns(now_ns))
                 << ", \"service_s\": " << seconds(device.service_ns)
                 << ", \"response_s\": " << seconds(device.response_ns) << ", \"queued_s\": " << seconds(queued_ns)
                 << ", \"mean_queue\": " << seconds(queued_ns) / std::max(seconds(now_ns), 1e-9) << "}";
        }
        text << "]}\n";
        return text.str();
    }

private:
    const i64 began_ns = monotonic_ns();
    i64 now_ns = 0;
    PacedDevices devices;
    PendingRequests pending;
    PendingFlushes flushes;
    bool is_emulated;
    int image = -1;
    struct stat image_stat{};
    i64 order = 0;
    ServedCounts counts;

    static double seconds(i64 ns) { return static_cast<double>(ns) / static_cast<double>(NS_PER_S); }

    static double cpu_s() {
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        const auto of = [](const timeval& time) {
            return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
        };
        return of(usage.ru_utime) + of(usage.ru_stime);
    }

    // A request's time begins before its data is moved: that belongs to the service, and is late if it takes longer.
    void arrive() {
        if (is_emulated) let_time_pass();
    }

    void serve(i32 number, i64 byte, i64 size) {
        if (is_emulated && size > 0) {
            devices.submit(number, byte, size, pending[number].writes);
        } else {
            counts.at_full_speed++;
            pending.reply(number);
            pending.release(number);
        }
    }

    void end(i32 number, i64 instant_ns) {
        if (pending[number].request != nullptr) {
            pending.reply(number);
            count_reply(instant_ns);
            if (pending[number].writes) flushes.write_ends(pending[number].order, instant_ns);
        }
        pending.release(number);
    }

    void count_reply(i64 instant_ns) {
        const i64 late_ns = monotonic_ns() - began_ns - instant_ns;
        counts.replies++;
        counts.late_ns += late_ns;
        counts.latest_ns = std::max(counts.latest_ns, late_ns);
    }

    void fail(i32 number, int error) {
        PendingRequest& failed = pending[number];
        fuse_reply_err(failed.request, error);
        pending.forget(number);
    }
};

// The file system: a folder with two files

EmulatedDisk& disk_of(fuse_req_t request) { return *static_cast<EmulatedDisk*>(fuse_req_userdata(request)); }

struct stat attributes(fuse_ino_t inode, i64 disk_bytes) {
    struct stat file{};
    file.st_ino = inode;
    file.st_nlink = inode == FUSE_ROOT_ID ? 2 : 1;
    file.st_mode = inode == FUSE_ROOT_ID ? S_IFDIR | 0755 : inode == DISK ? S_IFREG | 0600 : S_IFREG | 0444;
    file.st_size = inode == DISK ? disk_bytes : 0;
    file.st_blocks = file.st_size / 512;
    file.st_blksize = 4096;
    return file;
}

void init(void*, fuse_conn_info* connection) {
    connection->want |= connection->capable & FUSE_CAP_ASYNC_DIO;
    connection->want &= ~static_cast<unsigned>(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
    connection->max_write = MOST_BYTES;
    connection->max_background = MOST_PENDING;
    connection->congestion_threshold = MOST_PENDING;
    std::cout << "ready" << std::endl;
}

void lookup(fuse_req_t request, fuse_ino_t, const char* name) {
    fuse_entry_param entry{};
    entry.ino = std::strcmp(name, DISK_NAME) == 0 ? DISK : std::strcmp(name, COUNTERS_NAME) == 0 ? COUNTERS : 0;
    if (entry.ino == 0) {
        fuse_reply_err(request, ENOENT);
        return;
    }
    entry.attr = attributes(entry.ino, disk_of(request).size_bytes());
    entry.attr_timeout = entry.entry_timeout = FOREVER_S;
    fuse_reply_entry(request, &entry);
}

void get_attributes(fuse_req_t request, fuse_ino_t inode, fuse_file_info*) {
    const struct stat file = attributes(inode, disk_of(request).size_bytes());
    fuse_reply_attr(request, &file, FOREVER_S);
}

// The size stays; owners, modes and times are nobody's business.
void set_attributes(fuse_req_t request, fuse_ino_t inode, struct stat* wanted, int which, fuse_file_info* file) {
    if ((which & FUSE_SET_ATTR_SIZE) != 0 && wanted->st_size != disk_of(request).size_bytes())
        fuse_reply_err(request, EPERM);
    else
        get_attributes(request, inode, file);
}

// Without a second cache in the operating system, and with writes side by side: libfuse 3.14 has no name for that.
void open_file(fuse_req_t request, fuse_ino_t inode, fuse_file_info*) {
    fuse_open_out reply{};
    reply.open_flags = FOPEN_DIRECT_IO;
    if (inode == DISK)
        reply.open_flags |= FOPEN_PARALLEL_DIRECT_WRITES;
    else
        reply.fh = reinterpret_cast<std::uintptr_t>(new std::string(disk_of(request).counters()));
    fuse_reply_buf(request, reinterpret_cast<const char*>(&reply), sizeof reply);
}

void release_file(fuse_req_t request, fuse_ino_t inode, fuse_file_info* file) {
    if (inode == COUNTERS) delete reinterpret_cast<std::string*>(file->fh);
    fuse_reply_err(request, 0);
}

void read_file(fuse_req_t request, fuse_ino_t inode, std::size_t size, off_t byte, fuse_file_info* file) {
    if (inode == DISK) {
        disk_of(request).read(request, byte, static_cast<i64>(size));
        return;
    }
    const std::string& text = *reinterpret_cast<std::string*>(file->fh);
    const std::size_t from = std::min(static_cast<std::size_t>(byte), text.size());
    fuse_reply_buf(request, text.data() + from, std::min(size, text.size() - from));
}

void write_file(fuse_req_t request, fuse_ino_t inode, const char* data, std::size_t size, off_t byte, fuse_file_info*) {
    if (inode == DISK)
        disk_of(request).write(request, data, byte, static_cast<i64>(size));
    else
        fuse_reply_err(request, EACCES);
}

void sync_file(fuse_req_t request, fuse_ino_t inode, int, fuse_file_info*) {
    if (inode == DISK)
        disk_of(request).flush(request);
    else
        fuse_reply_err(request, 0);
}

void allocate(fuse_req_t request, fuse_ino_t inode, int mode, off_t byte, off_t size, fuse_file_info*) {
    if (inode == DISK)
        disk_of(request).discard(request, mode, byte, size);
    else
        fuse_reply_err(request, EACCES);
}

void read_folder(fuse_req_t request, fuse_ino_t, std::size_t size, off_t from, fuse_file_info*) {
    const std::pair<const char*, fuse_ino_t> entries[] = {
        {".", FUSE_ROOT_ID}, {"..", FUSE_ROOT_ID}, {DISK_NAME, DISK}, {COUNTERS_NAME, COUNTERS}};
    std::vector<char> buffer(size);
    std::size_t used = 0;
    for (std::size_t place = static_cast<std::size_t>(from); place < std::size(entries); place++) {
        const struct stat file = attributes(entries[place].second, 0);
        const std::size_t needed = fuse_add_direntry(request, buffer.data() + used, size - used, entries[place].first,
                                                     &file, static_cast<off_t>(place + 1));
        if (needed > size - used) break;
        used += needed;
    }
    fuse_reply_buf(request, buffer.data(), used);
}

fuse_lowlevel_ops operations() {
    fuse_lowlevel_ops served{};
    served.init = init;
    served.lookup = lookup;
    served.getattr = get_attributes;
    served.setattr = set_attributes;
    served.open = open_file;
    served.release = release_file;
    served.read = read_file;
    served.write = write_file;
    served.fsync = sync_file;
    served.fallocate = allocate;
    served.readdir = read_folder;
    return served;
}

// What the operating system is to know of this process. Each needs a privilege, and is done without where that lacks.
void ask_for_punctuality() {
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    prctl(PR_SET_IO_FLUSHER, 1UL, 0UL, 0UL, 0UL);  // file systems on this disk wait for it to get memory back
    const sched_param lowest{.sched_priority = 1};
    if (sched_setscheduler(0, SCHED_FIFO, &lowest) != 0) setpriority(PRIO_PROCESS, 0, -20);
}

// Serves requests until the file system is unmounted or the program is to end.
int serve(fuse_session* session, EmulatedDisk& disk) {
    sigset_t noted, others;
    sigemptyset(&noted);
    struct sigaction action{};
    action.sa_handler = note_signal;
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) {
        sigaction(number, &action, nullptr);
        sigaddset(&noted, number);
    }
    sigprocmask(SIG_BLOCK, &noted, &others);  // they come while it sleeps
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) sigdelset(&others, number);
    pollfd device{fuse_session_fd(session), POLLIN, 0};
    fcntl(device.fd, F_SETFL, fcntl(device.fd, F_GETFL) | O_NONBLOCK);
    fuse_buf buffer{};
    while (!fuse_session_exited(session)) {
        const i64 sleep_ns = disk.sleep_ns();
        const timespec longest{sleep_ns / NS_PER_S, sleep_ns % NS_PER_S};
        const int ready = ppoll(&device, 1, sleep_ns == INT64_MAX ? nullptr : &longest, &others);
        if (is_to_end) break;
        if (speed_signal == SIGUSR1) disk.hurry();
        if (speed_signal == SIGUSR2) disk.take_its_time();
        speed_signal = 0;
        disk.let_time_pass();
        if (ready <= 0) continue;
        const int got = fuse_session_receive_buf(session, &buffer);
        if (got > 0) fuse_session_process_buf(session, &buffer);
        if (got == 0) break;
        if (got < 0 && got != -EAGAIN && got != -EINTR && got != -ENOENT) return 1;
    }
    disk.reply_to_all();
    std::free(buffer.mem);
    return 0;
}

Options options_of(int count, char** words) {
    Options options;
    std::vector<std::string> places;
    for (int i = 1; i < count; i++) {
        const std::string word = words[i];
        if (word == "--full-speed")
            options.full_speed = true;
        else if (word == "--flush-us" && i + 1 < count)
            options.flush_ns = static_cast<i64>(std::stod(words[++i]) * 1000.0);
        else if (word.starts_with("--"))
            throw std::invalid_argument(word + ": not an option; --flush-us N and --full-speed are");
        else
            places.push_back(word);
    }
    if (places.size() != 3 || options.flush_ns < 0)
        throw std::invalid_argument("usage: emulated-disk MOUNTPOINT IMAGE RECORD [--flush-us N] [--full-speed]");
    options.mountpoint = places[0];
    options.image = places[1];
    options.record = places[2];
    return options;
}

int run(const Options& options) {
    const RecordFile file(options.record);
    EmulatedDisk disk(options, file.run());
    char name[] = "emulated-disk", flag[] = "-o", text[] = "fsname=emulated-disk,subtype=emulated-disk";
    char* words[] = {name, flag, text, nullptr};
    fuse_args arguments = FUSE_ARGS_INIT(3, words);
    const fuse_lowlevel_ops served = operations();
    fuse_session* const session = fuse_session_new(&arguments, &served, sizeof served, &disk);
    fuse_opt_free_args(&arguments);
    if (session == nullptr) return 1;
    int status = 1;
    if (fuse_session_mount(session, options.mountpoint.c_str()) == 0) {
        ask_for_punctuality();
        status = serve(session, disk);
        fuse_session_unmount(session);
    }
    fuse_session_destroy(session);
    return status;
}

}  // namespace
}  // namespace oltpsim

int main(int count, char** words) {
    try {
        return oltpsim::run(oltpsim::options_of(count, words));
    } catch (const std::exception& error) {
        std::cerr << "emulated-disk: " << error.what() << std::endl;
        return 2;
    }
}
