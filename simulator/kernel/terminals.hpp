// Terminals: many users who type, send, wait and think, before few connections that do their work.
//
// A terminal is as light as can be: a random stream, the class of its next transaction, and one event, the arrival of
// that at the line for connections. Transactions of a deferred class are answered when they are sent.
#pragma once
#include "arrivals.hpp"
#include "program.hpp"

namespace oltpsim {

class Terminals {
public:
    const i64 count;
    const i64 middle_tier_ns;  // network and middle tier, there and back
    i64 away = 0;              // terminals that think or type
    i64 deferred_inside = 0;   // transactions that no terminal waits for

    Terminals(const Tables& system, Program& program, Calendar& calendar, Tasks& tasks, Arrivals& arrivals)
        : count(system["terminals"].at(0, "count")),
          middle_tier_ns(system["terminals"].at(0, "middle_tier_ns")),
          away(count),
          homes(system["terminals"].at(0, "homes")),
          deferred_class(system["terminals"].at(0, "deferred_class")),
          longest_think(system["terminals"].at(0, "longest_think")),
          mix(system["terminals"].at(0, "mix")),
          program(program),
          calendar(calendar),
          tasks(tasks),
          arrivals(arrivals),
          classes(count) {
        const Table& times = system["terminal_classes"];
        for (i64 i = 0; i < times.rows(); i++) {
            keying_ns.add(times.at(i, "keying_ns"));
            thinking_ns.add(times.at(i, "thinking_ns"));
            longest_ns = std::max(longest_ns, keying_ns[i]);
        }
        if (count > 0) longest_ns += longest_think * *std::max_element(thinking_ns.begin(), thinking_ns.end());
        const Table& set = system["terminal_registers"];
        for (i64 i = 0; i < set.rows(); i++)
            seats.add({set.at(i, "register"), set.at(i, "factor"), set.at(i, "divisor")});
        const Table& states = system["terminal_streams"];
        for (i64 i = 0; i < states.rows(); i++) streams.add(static_cast<Stream>(states.at(i, 0)));
    }

    const Array<Stream>& all_streams() const { return streams; }

    void start() {
        for (i32 number = 0; number < count; number++)
            calendar.after(first_arrival_ns(number), EventKind::terminal, number);
    }

    // A terminal's transaction arrives; of a deferred one the terminal has its answer already.
    void wake(i32 number) {
        const i64 chosen = classes[number];
        away--;
        arrivals.add(calendar.now_ns - middle_tier_ns, i64{number} << CLASS_BITS | chosen);
        if (chosen == deferred_class) {
            deferred_inside++;
            leave(number, chosen);
        }
    }

    // A client takes up a terminal's transaction: its class, and the registers of the terminal's home.
    void seat(i32 client) {
        if (count > 0) seat(client, tasks[client].message);
    }

    // A client's transaction has ended; its terminal has been waiting for that, if it was not deferred.
    void answer(i32 client, i64 transaction_class) {
        if (count == 0) return;
        if (transaction_class == deferred_class)
            deferred_inside--;
        else
            leave(static_cast<i32>(tasks[client].message >> CLASS_BITS), transaction_class);
    }

private:
    static constexpr int CLASS_BITS = 8;  // of a message: terminal, then class

    // What a register of a connection is set to: home * factor / divisor.
    struct Seat {
        i64 number, factor, divisor;
    };

    const i64 homes;
    const i64 deferred_class;
    const i64 longest_think;  // means
    const i64 mix;
    Array<i64> keying_ns;    // by class of the transaction that follows
    Array<i64> thinking_ns;  // mean, by class of the transaction before
    i64 longest_ns = 0;
    Array<Seat> seats;
    Program& program;
    Calendar& calendar;
    Tasks& tasks;
    Arrivals& arrivals;

    Array<u8> classes;      // of each terminal's next transaction
    Array<Stream> streams;  // of each terminal

    void leave(i32 number, i64 ended) {
        away++;
        calendar.after(next_arrival_ns(number, ended), EventKind::terminal, number);
    }

    // From the answer to a transaction to the next one's arrival.
    i64 next_arrival_ns(i32 number, i64 ended) {
        const i64 mean_ns = thinking_ns[ended];
        const i64 thinks_ns =
            mean_ns > 0 ? std::min(program.exponential().draw_ns(streams[number], mean_ns), longest_think * mean_ns)
                        : 0;
        const i64 chosen = program.sampler(mix).draw(streams[number]);
        classes[number] = static_cast<u8>(chosen);
        return thinks_ns + keying_ns[chosen] + middle_tier_ns;
    }

    // From time 0, amid thinking and keying: long ones are met as often as they are long; some of it is over.
    i64 first_arrival_ns(i32 number) {
        while (true) {
            const i64 before = program.sampler(mix).draw(streams[number]);
            const i64 away_ns = next_arrival_ns(number, before) - middle_tier_ns;
            if (longest_ns == 0) return middle_tier_ns;
            const i64 left_ns =
                static_cast<i64>(share_of(next_bits(streams[number])) * static_cast<double>(longest_ns));
            if (left_ns < away_ns) return left_ns + middle_tier_ns;
        }
    }

    void seat(i32 client, i64 message) {
        tasks[client].transaction_class = static_cast<i32>(message & ((1 << CLASS_BITS) - 1));
        const i64 home = (message >> CLASS_BITS) % homes;
        const View<i64> registers = program.registers_of(client);
        for (const Seat& seat : seats) registers[seat.number] = home * seat.factor / seat.divisor;
    }
};

}  // namespace oltpsim
