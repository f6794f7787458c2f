// The rate at which as many clients as there are keep a machine busy: a root of the one unknown. It is the lowest:
// below it fewer clients are needed than there are (decision 27).
//
// What is tried next follows from the two rates that came nearest; where that shrinks what is left too slowly, as at a
// step, it is halved. An endless queue says only that a rate is too high.
#pragma once
#include "residence.hpp"

namespace oltpsim {

// Rate that was tried: its logarithm, the clients that it takes by those that there are, the busiest station's load.
struct RatePoint {
    double log_rate = 0, population = NAN, load = NAN;

    // More clients than FULL times those that there are stand for a queue without end.
    bool has_no_endless_queue() const { return population < FULL; }
    bool has_no_full_station() const { return load > 0.0 && load < 1.0; }
    double distance() const { return std::abs(log_of(std::max(population, LEAST))); }
    double client_s() const { return population / exp_of(log_rate); }
    double queue() const { return load / (1.0 - load); }

    static constexpr double FULL = 10.0;
};

// Where clients would be as many as there are if what each takes rose in a straight line with the queue of one busiest
// station, load / (1 - load), and that load with the rate by a power, as from one rate to the other. NAN if they don't
// rise, or a station is full.
inline double where_full(const RatePoint& one, const RatePoint& other) {
    constexpr int HALVINGS = 45;
    if (!(one.has_no_full_station() && other.has_no_full_station())) return NAN;
    const double exponent = log_of(other.load / one.load) / (other.log_rate - one.log_rate);
    const double slope = (other.client_s() - one.client_s()) / (other.queue() - one.queue());
    const double alone = one.client_s() - slope * one.queue();
    if (!(exponent > 0.0 && slope > 0.0 && alone >= 0.0)) return NAN;
    double low = one.log_rate - 2.0, high = one.log_rate - log_of(one.load) / exponent;
    for (int number = 0; number < HALVINGS; number++) {
        const double middle = (low + high) / 2.0;
        const double load = std::min(one.load * exp_of(exponent * (middle - one.log_rate)), 1.0 - 1e-15);
        const bool full = exp_of(middle) * (alone + slope * load / (1.0 - load)) >= 1.0;
        (full ? high : low) = middle;
    }
    return (low + high) / 2.0;
}

// Where clients are as many as there are, on a straight line through two rates near it.
inline double secant(const RatePoint& one, const RatePoint& other) {
    const double at_one = log_of(one.population), at_other = log_of(other.population);
    return one.log_rate - at_one * (other.log_rate - one.log_rate) / (at_other - at_one);
}

// Of a closed machine; an open one's rate is what arrives, if it can.
inline double rate_of(AtRate& state, const Machine& machine) {
    constexpr double ENOUGH = 1e-7;                // of the population
    constexpr double TOLERANCE = 1e-11;            // of the rate, at a step
    constexpr double FIRST = 6.0, FARTHEST = 4.0;  // below the most that paths allow, and steps down from there
    constexpr double NEAR_FULL = 0.05;             // below a full station
    constexpr double CLOSE = 0.1,
                     ENDLESS_FRACTION = 0.6;       // for a straight line; of what is left below an endless queue
    constexpr int MOST_RATES = 200, PATIENCE = 3;  // rates; until what is left has to be half as much
    if (machine.is_open() && state.population(machine.clients.arrivals_per_s) <= 1.0)
        return machine.clients.arrivals_per_s;
    double most = machine.clients.number / std::max(state.least_s(), TINY);
    if (machine.is_open()) most = std::min(most, machine.clients.arrivals_per_s);
    if (machine.clients.terminals > 0)
        most = std::min(most, machine.clients.terminals / std::max(machine.clients.away_s, TINY));
    const double top = log_of(most) + 1e-9, bottom = top - 40.0;
    double low = -INFINITY, high = INFINITY, next = top - FIRST, width = INFINITY;
    double wider = 0.1;    // than what a lower rate allows
    bool endless = false;  // at `high`
    RatePoint best, second;
    for (int number = 0, patience = PATIENCE; number < MOST_RATES; number++) {
        const RatePoint tried{next, state.population(exp_of(next)), state.load};
        if (std::abs(tried.population - 1.0) <= ENOUGH) return exp_of(next);
        if (tried.population < 1.0)
            low = next;
        else {
            high = next;
            endless = tried.population >= RatePoint::FULL;
        }
        if (low >= top || high <= bottom || high - low <= TOLERANCE) break;
        if (tried.has_no_endless_queue() && (!best.has_no_endless_queue() || tried.distance() < best.distance())) {
            second = best;
            best = tried;
        } else if (tried.has_no_endless_queue() &&
                   (!second.has_no_endless_queue() || tried.distance() < second.distance()))
            second = tried;
        if (low == -INFINITY) {
            next = std::max(next - FARTHEST, bottom);
            continue;
        }
        double end = high;
        if (high == INFINITY) {
            // with the response times of a lower rate clients would do too much, if those rise with the rate
            end = std::min(top, low - log_of(std::max(tried.population, LEAST)) + 1e-9);
        }
        if (end - low < 0.5 * width) {
            width = end - low;
            patience = PATIENCE;
        }
        double guess = NAN;
        if (second.has_no_endless_queue())
            guess = second.distance() < CLOSE ? secant(best, second) : where_full(best, second);
        else if (best.has_no_endless_queue() && best.has_no_full_station() && best.population < 1.0) {
            const double unhindered = best.population, full = best.load * (1.0 + NEAR_FULL);
            guess = best.log_rate - 0.5 * log_of(unhindered * unhindered + full * full);
        }
        if (endless) guess = std::min(guess, low + ENDLESS_FRACTION * (high - low));
        if (patience-- <= 0) {
            width = end - low;
            patience = PATIENCE;
            guess = high == INFINITY ? std::min(low + wider, top) : NAN;
            wider *= 2.0;
        }
        next = guess > low && guess < high ? std::min(guess, top) : (low + end) / 2.0;
    }
    return exp_of(std::max(low, bottom));
}

}  // namespace oltpsim
