// Terminals: many users who type, send, wait and think, before few connections that do their work.
//
// A terminal is as light as can be: a random stream, the class of its next transaction, and one event, the arrival of
// that at the line for connections. Transactions of a deferred class are answered when they are sent.
#pragma once
#include "arrivals.hpp"
#include "interpreter.hpp"

namespace oltpsim {

class Terminals : Parts {
public:
    const i64 count;
    const i64 middle_tier_ns;  // network and middle tier, there and back
    i64 away = 0;              // terminals that think or type
    i64 deferred_inside = 0;   // transactions that no terminal waits for

    explicit Terminals(const Parts& parts)
        : Parts(parts),
          count(system.terminals ? system.terminals->count : 0),
          middle_tier_ns(system.terminals ? system.terminals->middle_tier_ns : 0),
          away(count),
          rules(system.terminals),
          program(interpreter.program),
          classes(count),
          streams(Array<Stream>::of(run.terminal_streams)) {
        if (count == 0) return;
        longest_ns = *std::max_element(rules->keying_ns.begin(), rules->keying_ns.end()) +
                     rules->longest_think * *std::max_element(rules->thinking_ns.begin(), rules->thinking_ns.end());
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
        if (chosen == rules->deferred_class) {
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
        if (transaction_class == rules->deferred_class)
            deferred_inside--;
        else
            leave(static_cast<i32>(tasks[client].message >> CLASS_BITS), transaction_class);
    }

private:
    static constexpr int CLASS_BITS = 8;  // of a message: terminal, then class

    const form::Terminals* rules;
    Program& program;
    i64 longest_ns = 0;

    Array<u8> classes;      // of each terminal's next transaction
    Array<Stream> streams;  // of each terminal

    void leave(i32 number, i64 ended) {
        away++;
        calendar.after(next_arrival_ns(number, ended), EventKind::terminal, number);
    }

    // From the answer to a transaction to the next one's arrival.
    i64 next_arrival_ns(i32 number, i64 ended) {
        const i64 mean_ns = rules->thinking_ns[ended];
        const i64 thinks_ns = mean_ns > 0 ? std::min(program.exponential().draw_ns(streams[number], mean_ns),
                                                     rules->longest_think * mean_ns)
                                          : 0;
        const i64 chosen = program.sampler(rules->mix).draw(streams[number]);
        classes[number] = static_cast<u8>(chosen);
        return thinks_ns + rules->keying_ns[chosen] + middle_tier_ns;
    }

    // From time 0, amid thinking and keying: long ones are met as often as they are long; some of it is over.
    i64 first_arrival_ns(i32 number) {
        while (true) {
            const i64 before = program.sampler(rules->mix).draw(streams[number]);
            const i64 away_ns = next_arrival_ns(number, before) - middle_tier_ns;
            if (longest_ns == 0) return middle_tier_ns;
            const i64 left_ns =
                static_cast<i64>(share_of(next_bits(streams[number])) * static_cast<double>(longest_ns));
            if (left_ns < away_ns) return left_ns + middle_tier_ns;
        }
    }

    void seat(i32 client, i64 message) {
        tasks[client].transaction_class = static_cast<i32>(message & ((1 << CLASS_BITS) - 1));
        const i64 home = (message >> CLASS_BITS) % rules->homes;
        const View<i64> registers = program.registers_of(client);
        for (const form::HomeRegister& set : rules->registers) registers[set.number] = home * set.factor / set.divisor;
    }
};

}  // namespace oltpsim
