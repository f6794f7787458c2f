// Stations: servers with one line (processors, plain stations), and critical sections, which are held on a processor.
#pragma once
#include "context.hpp"
#include "gauge.hpp"
#include "story.hpp"

namespace oltpsim {

// Equal servers, one line, first come first served.
struct Station {
    i64 free_servers;
    Line line;
    Gauge busy;     // servers
    Gauge present;  // tasks
    i64 served = 0;
};

// One task at a time; a contended entry costs a hand-over, during which nobody is inside.
struct Section {
    i64 handover_ns;
    bool taken = false;
    Line line;
    Gauge busy;
    i64 entries = 0;
    i64 waits = 0;
    i64 waited_ns = 0;
};

constexpr i32 PROCESSORS = 0;  // station 0; the plain ones follow

class Stations : Context {
public:
    Array<Section> sections;

    explicit Stations(const Context& context)
        : Context(context),
          slowdown_ppm(1 + system.processors, form::PPM),
          slice_ns(system.cpu.slice_ns),
          quota{system.cpu.quota_ns, system.cpu.quota_period_ns, 0, system.cpu.quota_ns} {
        stations.add({system.processors, {}, {}, {}});
        for (const form::Station& station : system.stations) stations.add({station.servers, {}, {}, {}});
        for (const form::Section& section : system.sections) sections.add({section.handover_ns, false, {}, {}});
        for (i64 i = 1; system.sharing && i < slowdown_ppm.size(); i++) {
            slowdown_ppm[i] = system.sharing->ppm[i - 1];
            slows_down |= slowdown_ppm[i] != form::PPM;
        }
        is_plain = !slows_down && slice_ns == 0 && quota.run_ns == 0;
    }

    const Station& operator[](i64 number) const { return stations[number]; }
    i64 count() const { return stations.size(); }

    // A task asks for a server; who holds a critical section goes to the front of the line.
    void enter(i32 number, i32 who, i64 service_ns, Purpose purpose, bool urgent = false) {
        Station& station = stations[number];
        Task& task = tasks[who];
        station.present.change(calendar.now_ns, 1);
        task.station = number;
        task.purpose = purpose;
        task.queued_ns = 0;
        task.service_ns = service_ns;
        if (slice_ns > 0 && purpose == Purpose::cpu) {
            task.left_ns = service_ns;
            task.service_ns = 0;
        }
        if (station.free_servers > 0) {
            station.free_servers--;
            station.busy.change(calendar.now_ns, 1);
            serve(who);
            return;
        }
        task.stage = Stage::queueing;
        task.queued_ns = -calendar.now_ns;
        if (urgent)
            station.line.add_in_front(tasks, who);
        else
            station.line.add(tasks, who);
    }

    // A task has been served: its server goes to the next in line.
    void leave(i32 who) {
        Station& station = stations[tasks[who].station];
        station.served++;
        station.present.change(calendar.now_ns, -1);
        if (station.line.empty()) {
            station.free_servers++;
            station.busy.change(calendar.now_ns, -1);
            return;
        }
        const i32 next = station.line.take(tasks);
        tasks[next].queued_ns += calendar.now_ns;
        serve(next);
    }

    // A daemon's service by a processor.
    struct Service : Woken {
        Stations& stations;
        const i32 who;

        void await_resume() const { stations.leave(who); }
    };

    Service run(Process& process, i64 service_ns) {
        enter(PROCESSORS, process.who, service_ns, Purpose::daemon);
        return {process.woken(), *this, process.who};
    }

    // A task has used up its time slice and has more to do: who waits goes first.
    void end_slice(i32 who) {
        Station& station = stations[PROCESSORS];
        i32 next = who;
        if (!station.line.empty()) {
            tasks[who].stage = Stage::queueing;
            tasks[who].queued_ns -= calendar.now_ns;
            station.line.add(tasks, who);
            next = station.line.take(tasks);
            tasks[next].queued_ns += calendar.now_ns;
        }
        serve(next);
    }

    // A task asks for a critical section, to use a processor for `hold_ns` inside.
    void enter_section(i32 number, i32 who, i64 hold_ns) {
        Section& section = sections[number];
        Task& task = tasks[who];
        section.entries++;
        task.section = number;
        task.hold_ns = hold_ns;
        if (section.taken) {
            task.stage = Stage::section_queueing;
            section.line.add(tasks, who);
            return;
        }
        section.taken = true;
        section.busy.change(calendar.now_ns, 1);
        enter(PROCESSORS, who, hold_ns, Purpose::section, true);
    }

    // It is a task's turn; it has to wake up first.
    void hand_over_section(i32 who) {
        tasks[who].stage = Stage::section_handover;
        calendar.after(sections[tasks[who].section].handover_ns, EventKind::task, who);
    }

    // The task that was woken up is inside.
    void begin_section(i32 who) {
        const Task& task = tasks[who];
        Section& section = sections[task.section];
        section.waits++;
        section.waited_ns += calendar.now_ns - task.wait_began_ns;
        enter(PROCESSORS, who, task.hold_ns, Purpose::section, true);
    }

    void leave_section(i32 who) {
        Section& section = sections[tasks[who].section];
        if (!section.line.empty()) {
            calendar.at_once(EventKind::task, section.line.take(tasks));
            return;
        }
        section.taken = false;
        section.busy.change(calendar.now_ns, -1);
    }

private:
    Array<Station> stations;
    Array<i64> slowdown_ppm;  // by busy processors: what a service takes, in millionths of its time alone
    bool slows_down = false;
    const i64 slice_ns;    // after which a client's burst lets others go first; 0: never
    bool is_plain = true;  // processors without slowdown, slices and quota

    // Time that all processors together may run in each period (CFS's bandwidth control); 0: without a limit. What has
    // begun is finished: its time is taken from the next periods.
    struct Quota {
        i64 run_ns = 0, period_ns = 0;
        i64 period = 0;   // number of the one that `left_ns` is of; later than now's if that has none left
        i64 left_ns = 0;  // less than 0: owed to the next period

        // How long a service waits that would begin now.
        i64 wait_ns(i64 now_ns, i64 service_ns) {
            const i64 passed = now_ns / period_ns - period;
            if (passed > 0) {
                left_ns = std::min(run_ns, left_ns + passed * run_ns);
                period += passed;
            }
            if (left_ns <= 0) {
                const i64 later = -left_ns / run_ns + 1;
                left_ns += later * run_ns;
                period += later;
            }
            left_ns -= service_ns;
            return std::max<i64>(period * period_ns - now_ns, 0);
        }
    } quota;

    void serve(i32 who) {
        Task& task = tasks[who];
        task.stage = Stage::served;
        if (is_plain || task.station != PROCESSORS)
            calendar.after(task.service_ns, EventKind::task, who);
        else
            serve_shared(who, task);
    }

    // Service on processors that slow each other down, are taken in slices, or may run for a part of the time only.
    void serve_shared(i32 who, Task& task) {
        const bool is_sliced = slice_ns > 0 && task.purpose == Purpose::cpu;
        i64 lasts_ns = is_sliced ? std::min(task.left_ns, slice_ns) : task.service_ns;
        if (is_sliced) {
            task.left_ns -= lasts_ns;
            if (task.left_ns > 0) task.stage = Stage::sliced;
        }
        lasts_ns = lasts_ns * slowdown_ppm[stations[PROCESSORS].busy.value] / form::PPM;
        task.service_ns = is_sliced ? task.service_ns + lasts_ns : lasts_ns;
        const i64 wait_ns = quota.run_ns > 0 ? quota.wait_ns(calendar.now_ns, lasts_ns) : 0;
        task.queued_ns += wait_ns;
        calendar.after(wait_ns + lasts_ns, EventKind::task, who);
    }
};

}  // namespace oltpsim
