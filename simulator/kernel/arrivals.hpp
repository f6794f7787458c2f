// Arrivals: transactions that come by themselves, from outside or from terminals, and wait for a free connection.
#pragma once
#include "context.hpp"
#include "gauge.hpp"
#include "streams.hpp"

namespace oltpsim {

class Arrivals : Context {
public:
    Population in_system;  // transactions

    // `source`: the task that is woken at each arrival from outside.
    Arrivals(const Context& context, i32 source, const Ziggurat& ziggurat)
        : Context(context), source(source), stream(static_cast<Stream>(run.arrival_stream)), ziggurat(ziggurat) {}

    Stream stream_state() const { return stream; }
    bool are_open() const { return run.arrival_mean_ns > 0; }

    // The source: Poisson arrivals.
    void wake() {
        if (tasks[source].stage == Stage::timed) add(calendar.now_ns, 0);
        tasks[source].stage = Stage::timed;
        calendar.after(ziggurat.draw_ns(stream, run.arrival_mean_ns), EventKind::task, source);
    }

    // A transaction that began at `began_ns` goes to a free connection, or waits for one.
    void add(i64 began_ns, i64 message) {
        in_system.enter(began_ns);
        if (idle.empty()) {
            waiting.add({began_ns, message});
            return;
        }
        const i32 client = idle.take(tasks);
        give(client, {began_ns, message});
        calendar.at_once(EventKind::task, client);
    }

    // Gives the next transaction to a client; false if the client has to wait for one.
    bool take(i32 client) {
        if (waiting.empty()) {
            tasks[client].stage = Stage::arriving;
            idle.add(tasks, client);
            return false;
        }
        give(client, waiting.take());
        return true;
    }

private:
    struct Arrival {
        i64 began_ns;
        i64 message;
    };

    const i32 source;
    Stream stream;
    const Ziggurat& ziggurat;

    Line idle;  // connections
    Ring<Arrival> waiting;

    void give(i32 client, Arrival arrival) {
        tasks[client].began_ns = arrival.began_ns;
        tasks[client].message = arrival.message;
    }
};

}  // namespace oltpsim
