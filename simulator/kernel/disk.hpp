// A disk with an arm: seek, rotation, transfer, and which request the drive takes next.
//
// Seek time over the fraction x of the full stroke: track-to-track + b sqrt(x) + c x, with b and c such that the mean
// over random pairs (density 2(1-x)) and the full stroke are the data sheet's. Within a cylinder another head takes
// over, which takes a time of its own; a seek lasts at least as long. A write that changed track waits until the head
// has settled. The drive prepares a command as soon as it has it, while the arm is at work: what is left of the
// overhead counts. The platter turns all the time: the rotational wait follows from when the head is ready and where
// the data lies on the track. Sources: the curve, Lee, Katz, "An analytic performance model of disk arrays", SIGMETRICS
// 1993; settling and head switches, Ruemmler, Wilkes, "An introduction to disk drive modeling", IEEE Computer 1994;
// shortest positioning time first: Worthington, Ganger, Patt, SIGMETRICS 1994.
#pragma once
#include <cmath>

#include "io_scheduler.hpp"

namespace oltpsim {

// Times are ns, places bytes, all as doubles.
struct Mechanics {
    double capacity;
    double track;
    double heads;  // tracks of a cylinder
    double revolution;
    double seek_track;
    double seek_root;
    double seek_linear;
    double overhead;
    double settle;  // of a write that changed track
    double head_switch;

    static Mechanics of(const form::RotatingDevice& disk) {
        const auto number = [](i64 value) { return static_cast<double>(value); };
        const double over_track = number(disk.seek_average_ns - disk.seek_track_ns);
        const double full = number(disk.seek_full_ns - disk.seek_track_ns);
        const double root = std::min(std::max((over_track - full / 3.0) / (8.0 / 15.0 - 1.0 / 3.0), 0.0), full);
        return {number(disk.capacity_bytes),
                number(disk.track_bytes),
                number(disk.heads),
                number(disk.revolution_ns),
                number(disk.seek_track_ns),
                root,
                full - root,
                number(disk.overhead_ns),
                number(disk.settle_ns),
                number(disk.head_switch_ns)};
    }

    double track_of(double byte) const { return std::floor(byte / track); }
    double cylinder_of_track(double number) const { return std::floor(number / heads); }

    // How far the platter has turned, 0 to 1.
    double angle_at(i64 now_ns) const {
        return static_cast<double>(now_ns % static_cast<i64>(revolution)) / revolution;
    }

    // The time for the data to pass under the head.
    double transfer_ns(double size) const { return size / track * revolution; }

    // What a rewrite takes longer than a read: turns until the first sector is back.
    i64 rewrite_ns(i64 size_bytes) const {
        const i64 turns = static_cast<i64>(std::ceil(static_cast<double>(size_bytes) / track));
        return static_cast<i64>(static_cast<double>(std::max<i64>(turns, 1)) * revolution);
    }
};

// Requests among which the arm chooses.
class HeldRequests {
public:
    i64 count = 0;

    explicit HeldRequests(i64 most)
        : byte(most),
          size(most),
          since(most),
          turns(most),
          track(most),
          cylinder(most),
          settle(most),
          ready(most),
          number(most),
          time(most) {}

    // `since_ns`: when the drive got it, or never for what nobody waits for, which lies ready.
    void add(const Mechanics& disk, i64 at_byte, i64 size_bytes, bool writes, double since_ns, i32 request) {
        byte[count] = static_cast<double>(at_byte);
        size[count] = static_cast<double>(size_bytes);
        since[count] = since_ns;
        turns[count] = byte[count] / disk.track;
        track[count] = disk.track_of(byte[count]);
        cylinder[count] = disk.cylinder_of_track(track[count]);
        settle[count] = writes ? disk.settle : 0.0;
        ready[count] = std::isfinite(since_ns) ? since_ns + disk.overhead : 0.0;
        number[count++] = request;
    }

    // Takes one out: the last takes its place.
    void remove(i64 place) {
        count--;
        byte[place] = byte[count];
        size[place] = size[count];
        since[place] = since[count];
        turns[place] = turns[count];
        track[place] = track[count];
        cylinder[place] = cylinder[count];
        settle[place] = settle[count];
        ready[place] = ready[count];
        number[place] = number[count];
    }

    i64 byte_at(i64 place) const { return static_cast<i64>(byte[place]); }
    i64 size_at(i64 place) const { return static_cast<i64>(size[place]); }
    i32 request_at(i64 place) const { return number[place]; }

    struct Choice {
        i64 place;
        i64 service_ns;
    };

    // The request with the shortest positioning time, unless one has waited too long.
    Choice choose(const Mechanics& disk, i64 arm_byte, i64 now_ns) {
        const double angle = disk.angle_at(now_ns), arm = static_cast<double>(arm_byte);
        find_times(disk, arm, angle, static_cast<double>(now_ns));
        i64 best = 0, oldest = 0;
        for (i64 i = 1; i < count; i++) {
            if (since[i] < since[oldest]) oldest = i;
            if (time[i] < time[best]) best = i;
        }
        if (static_cast<double>(now_ns) - since[oldest] > static_cast<double>(form::PATIENCE_NS)) best = oldest;
        return {best, static_cast<i64>(time[best] + disk.transfer_ns(size[best]))};
    }

private:
    // Data that the head has just reached is not missed for a whole turn because of a rounded sum.
    static constexpr double ROUNDING_TURNS = 1e-9;

    Array<double> byte, size, since;
    Array<double> turns;  // where on the track the data begins, in revolutions
    Array<double> track, cylinder;
    Array<double> settle;  // of a write, ns
    Array<double> ready;   // from when on the drive has prepared it, ns
    Array<i32> number;
    Array<double> time;  // what is left of the overhead, seek and rotation until the data is under the head, ns

    // Without branches, so that the compiler takes several requests at a time.
    void find_times(const Mechanics disk, double arm, double angle, double now) {
        const double arm_track = disk.track_of(arm), arm_cylinder = disk.cylinder_of_track(arm_track);
        const double *const bytes = byte.data(), *const cylinders = cylinder.data(), *const places = turns.data();
        const double *const tracks = track.data(), *const settles = settle.data(), *const prepared = ready.data();
        double* const times = time.data();
        for (i64 i = 0; i < count; i++) {
            const double part = std::fabs(bytes[i] - arm) / disk.capacity, x = part < 1.0 ? part : 1.0;
            const double seek = disk.seek_track + disk.seek_root * std::sqrt(x) + disk.seek_linear * x;
            const double longer = seek > disk.head_switch ? seek : disk.head_switch;
            const double moves = (cylinders[i] == arm_cylinder ? disk.head_switch : longer) + settles[i];
            const double left = prepared[i] > now ? prepared[i] - now : 0.0;
            const double there = left + (tracks[i] == arm_track ? 0.0 : moves);
            const double turn = places[i] - angle - there / disk.revolution + ROUNDING_TURNS;
            times[i] = there + (turn - floor(turn)) * disk.revolution;
        }
    }

    // As std::floor, of numbers below 2^51: adding 1.5 * 2^52 rounds them to whole ones.
    static double floor(double x) {
        const double whole = (x + 0x1.8p52) - 0x1.8p52;
        return whole - (whole > x ? 1.0 : 0.0);
    }
};

// A drive with an arm and without a write cache: the operating system hands requests to it in its scheduler's order;
// the drive holds up to `queue_depth` of them and takes the one with the shortest positioning time.
class Disk : public DeviceStation {
public:
    Disk(const Context& context, i32 device, const form::RotatingDevice& record, Requests& requests)
        : requests(requests),
          calendar(context.calendar),
          device(device),
          depth(record.queue_depth),
          mechanics(Mechanics::of(record)),
          scheduler(record.scheduler),
          held(depth) {}

    // Arms look for work at time 0.
    void start() override { calendar.urgently(EventKind::arm, device); }

    void arrive(i32 number) override {
        scheduler.add(requests, number, requests.devices[device].arrived);
        if (idle) wake_arm();
    }

    // What the arm was doing is done: the drive takes requests in and starts on the next.
    void move() override {
        Gauge& busy = requests.devices[device].busy;
        if (is_serving) {
            is_serving = false;
            requests.complete(let_go(), chosen.service_ns);
        } else if (held.count == 0 && !scheduler.empty()) {
            busy.change(calendar.now_ns, 1);
        }
        while (held.count < depth && !scheduler.empty()) hold(scheduler.take(requests));
        if (held.count == 0) {
            busy.change(calendar.now_ns, -busy.value);
            idle = true;
            return;
        }
        chosen = held.choose(mechanics, arm_byte, calendar.now_ns);
        const Request& request = requests[held.request_at(chosen.place)];
        if (request.transfer == Transfer::rewrite) chosen.service_ns += mechanics.rewrite_ns(request.size_bytes);
        is_serving = true;
        calendar.after(chosen.service_ns, EventKind::arm, device);
    }

protected:
    Requests& requests;
    Calendar& calendar;
    const i32 device;
    const i64 depth;
    const Mechanics mechanics;

    IoScheduler scheduler;
    HeldRequests held;
    i64 arm_byte = 0;
    bool idle = false;
    bool is_serving = false;
    HeldRequests::Choice chosen{};

    void wake_arm() {
        idle = false;
        calendar.at_once(EventKind::arm, device);
    }

    void hold(i32 number) {
        const Request& request = requests[number];
        held.add(mechanics, request.byte, request.size_bytes, request.transfer == Transfer::write,
                 static_cast<double>(calendar.now_ns), number);
    }

    // The arm has served the chosen request; returns its number.
    i32 let_go() {
        const i32 number = held.request_at(chosen.place);
        arm_byte = requests[number].byte + requests[number].size_bytes;
        held.remove(chosen.place);
        return number;
    }
};

}  // namespace oltpsim
