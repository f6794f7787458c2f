// Daemons: tasks beside the clients, each of which takes its steps one after the other for ever.
#pragma once
#include "log.hpp"
#include "page_writes.hpp"

namespace oltpsim {

// In the order of simulator.form.DAEMON_OPERATIONS.
enum class DaemonCode : i64 {
    sleep,
    every,
    await_dirty,
    write_dirty,
    sync,
    note_checkpoint,
    write_log,
    write_expired,
};

class Daemons {
public:
    struct Checkpoint {
        i64 began_ns, ended_ns;
    };
    Array<Checkpoint> checkpoints;  // that are done

    // Their tasks are those from `first` on, in order.
    Daemons(const Tables& system, i32 first, Calendar& calendar, Tasks& tasks, Devices& devices, Stations& stations,
            Interpreter& interpreter, Log& log, WriteBack& write_back)
        : first(first),
          calendar(calendar),
          tasks(tasks),
          stations(stations),
          interpreter(interpreter),
          log(log),
          write_back(write_back) {
        const Table& table = system["daemons"];
        for (i32 number = 0; number < count(system); number++) {
            const i32 who = first + number;
            daemons.add({{},
                         PageWrites(system, who, calendar, tasks, devices, stations, interpreter, write_back),
                         Sync(who, calendar, interpreter.page_cache, write_back)});
        }
        for (i64 i = 0; i < table.rows(); i++)
            daemons[table.at(i, "daemon")].steps.add(
                {static_cast<DaemonCode>(table.at(i, "code")), table.at(i, "a"), table.at(i, "b")});
    }

    static i32 count(const Tables& system) {
        const Table& table = system["daemons"];
        return table.rows() == 0 ? 0 : static_cast<i32>(table.at(table.rows() - 1, "daemon")) + 1;
    }

    // A daemon's event: it goes on to its next wait.
    void wake(i32 who) {
        Daemon& daemon = daemons[who - first];
        bool is_done = tasks[who].stage == Stage::starting ? begin(who, daemon) : go_on(who, daemon);
        while (is_done) {
            daemon.step = daemon.step + 1 < daemon.steps.size() ? daemon.step + 1 : 0;
            is_done = begin(who, daemon);
        }
    }

    // A transaction has released its locks: those wake up who wait for fewer dirty pages than there are.
    void look() {
        i64 kept = 0;
        for (const Sleeper& sleeper : asleep)
            if (interpreter.pool.dirty > sleeper.pages)
                calendar.at_once(EventKind::task, sleeper.who);
            else
                asleep[kept++] = sleeper;
        asleep.resize(kept);
    }

    // A direct write of a daemon is done; true if the daemon goes on.
    bool end_write(i32 who) { return daemons[who - first].writes.end_write(); }

private:
    struct Step {
        DaemonCode code;
        i64 a, b;  // operands, as DAEMON_OPERATIONS names them
    };

    struct Daemon {
        Array<Step> steps;
        PageWrites writes;
        Sync sync;
        i64 step = 0;      // the one that it is at
        i64 due_ns = 0;    // when `every` was last due
        i64 began_ns = 0;  // when `every` last ended
    };

    // Waits until more than so many pages of the pool are dirty.
    struct Sleeper {
        i32 who;
        i64 pages;
    };

    const i32 first;
    Calendar& calendar;
    Tasks& tasks;
    Stations& stations;
    Interpreter& interpreter;
    Log& log;
    WriteBack& write_back;

    Array<Daemon> daemons;
    Array<Sleeper> asleep;  // in the order in which they came

    // Begins the step that a daemon is at; false if it has to wait.
    bool begin(i32 who, Daemon& daemon) {
        const Step& step = daemon.steps[daemon.step];
        BufferPool& pool = interpreter.pool;
        switch (step.code) {
            case DaemonCode::sleep:
                return wait(who, step.a);
            case DaemonCode::every:
                daemon.due_ns = std::max(daemon.due_ns + step.a, calendar.now_ns);
                return wait(who, daemon.due_ns - calendar.now_ns);
            case DaemonCode::await_dirty:
                if (pool.dirty > step.a) return true;
                tasks[who].stage = Stage::sleeping;
                asleep.add({who, step.a});
                return false;
            case DaemonCode::write_dirty:
                pool.find_replaced_first(std::max<i64>(pool.dirty - step.a, 0), daemon.writes.pages);
                daemon.writes.start(step.b);
                return daemon.writes.run();
            case DaemonCode::sync:
                daemon.sync.start();
                return daemon.sync.run();
            case DaemonCode::note_checkpoint:
                checkpoints.add({daemon.began_ns, calendar.now_ns});
                return true;
            case DaemonCode::write_log:
                if (log.pending_bytes > 0 && !log.durable) log.write(NOBODY);
                return true;
            case DaemonCode::write_expired:
                return write_expired(who, step.a);
        }
        check(false);
        return false;
    }

    // A wait within the step is over; false if it has to wait again.
    bool go_on(i32 who, Daemon& daemon) {
        switch (daemon.steps[daemon.step].code) {
            case DaemonCode::every:
                daemon.began_ns = calendar.now_ns;
                return true;
            case DaemonCode::await_dirty:
                return begin(who, daemon);
            case DaemonCode::write_dirty:
                return daemon.writes.run();
            case DaemonCode::sync:
                return daemon.sync.run();
            default:
                return true;
        }
    }

    bool wait(i32 who, i64 delay_ns) {
        tasks[who].stage = Stage::timed;
        calendar.after(delay_ns, EventKind::task, who);
        return false;
    }

    // Pages that have been dirty for so long; their CPU time is write-back's.
    bool write_expired(i32 who, i64 age_ns) {
        if (calendar.now_ns < age_ns || write_back.free_pages() <= 0) return true;
        const i64 written = write_back.flush(calendar.now_ns - age_ns, write_back.free_pages());
        if (written == 0) return true;
        const i64 demand_ns = written * interpreter.costs.request_ns;
        interpreter.cpu_time.write_back_ns += demand_ns;
        stations.enter(PROCESSORS, who, demand_ns, Purpose::cpu);
        return false;
    }
};

}  // namespace oltpsim
