// The operating system's fair queueing before a device (CFQ): owners take turns, and the device is theirs meanwhile.
//
// A client has one request at a time, which is its turn. Owners of several requests have a line of their own; the one
// request of theirs that stands for their next turn is in the line of turns itself, ahead of those in their line.
// Source: Linux's block/cfq-iosched.c as of 2.6.18 (docs/model/io-scheduler.md, with what is left out).
#pragma once
#include "requests.hpp"

namespace oltpsim {

class FairQueueing {
public:
    FairQueueing(const form::FairQueueing& rules, Requests& requests, const Calendar& calendar)
        : rules(rules), requests(requests), calendar(calendar) {}

    // A request comes; `submit` hands requests to the device.
    template <class Submit>
    void add(i32 number, Submit submit) {
        const i32 owner = owner_of(number);
        if (owner != A_CLIENT && (on_turn == owner || owners[owner].is_in_line)) {
            requests.line_up(owners[owner].line, number);
            if (on_turn == owner) hand_over(submit);
            return;
        }
        line_up_for_turn(number, owner);
        if (on_turn == NONE) next_turn(submit);
    }

    // The device is through with a request; its owner goes on, or it is the next one's turn.
    template <class Submit>
    void end(Submit submit) {
        in_device--;
        hand_over(submit);
        if (in_device > 0) return;
        if (on_turn != A_CLIENT && !owners[on_turn].line.empty())
            line_up_for_turn(requests.take(owners[on_turn].line), on_turn);
        next_turn(submit);
    }

private:
    static constexpr i32 A_CLIENT = USES;  // owners of several requests are numbered by their use

    struct Owner {
        RequestLine line;
        bool is_in_line = false;  // for its next turn
    };

    const form::FairQueueing& rules;
    Requests& requests;
    const Calendar& calendar;

    Owner owners[USES];
    RequestLine turns;
    i32 on_turn = NONE;
    i64 in_device = 0;
    i64 slice_end_ns = 0;

    i32 owner_of(i32 number) {
        const Use use = requests[number].use;
        return use < Use::swap_out ? A_CLIENT : static_cast<i32>(use);
    }

    void line_up_for_turn(i32 number, i32 owner) {
        requests.line_up(turns, number);
        if (owner != A_CLIENT) owners[owner].is_in_line = true;
    }

    template <class Submit>
    void next_turn(Submit submit) {
        on_turn = NONE;
        if (turns.empty()) return;
        const i32 number = requests.take(turns);
        on_turn = owner_of(number);
        in_device = 1;
        const Use use = requests[number].use;
        const bool is_background = on_turn != A_CLIENT && use != Use::log && use != Use::merge_read;
        slice_end_ns = calendar.now_ns + (is_background ? rules.background_slice_ns : rules.slice_ns);
        if (on_turn != A_CLIENT) owners[on_turn].is_in_line = false;
        submit(number);
        hand_over(submit);
    }

    // To the device as many requests of the owner as it may have there, while its slice lasts.
    template <class Submit>
    void hand_over(Submit submit) {
        if (on_turn == A_CLIENT) return;
        RequestLine& line = owners[on_turn].line;
        while (!line.empty() && in_device < rules.quantum && calendar.now_ns < slice_end_ns) {
            in_device++;
            submit(requests.take(line));
        }
    }
};

}  // namespace oltpsim
