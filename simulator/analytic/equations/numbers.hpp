// Numbers: constants, elementary functions that give the same bytes on every machine, and roots of one unknown.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace oltpsim {

// Functions with long loops are compiled twice, for processors with wide registers too. Nothing is rounded otherwise by
// these: FLOATS of .ci/libraries.py forbid products and sums in one.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(OLTPSIM_CHECKED)
#define OLTPSIM_WIDE __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define OLTPSIM_WIDE
#endif

// Functions inside such loops, which call nothing. Compilers that leave one out don't vectorise the loop.
#define OLTPSIM_INLINE inline __attribute__((always_inline))

using i64 = std::int64_t;
using Numbers = std::vector<double>;

constexpr double TINY = 1e-12;
constexpr double LEAST = 1e-100;
constexpr double ENDLESS = 1e9;  // seconds that stand for a queue without end

inline std::size_t at(i64 place) { return static_cast<std::size_t>(place); }
inline double clip(double value, double low, double high) { return std::min(std::max(value, low), high); }

// exp(x) = two_power * (1 + rest) for -700 <= x <= 0, two units in the last place off at most: x = k log 2 + r, and the
// series of exp(r). Compilers vectorise this and what calls it, as long as nothing branches. No constructor: Clang
// leaves one that is always inline out of a function with clones unless it optimises.
struct Exponential {
    double two_power, rest;

    OLTPSIM_INLINE static Exponential of(double x) {
        constexpr double ROUND = 6755399441055744.0;  // 1.5 * 2^52: what is added to it is rounded to a whole number
        constexpr double LOG2_E = 1.4426950408889634, LN2_HIGH = 0.69314718036912382, LN2_LOW = 1.9082149292705877e-10;
        const double shifted = x * LOG2_E + ROUND;
        const double k = shifted - ROUND;
        const double r = (x - k * LN2_HIGH) - k * LN2_LOW;
        double sum = 1.0 / 6227020800.0;
        sum = sum * r + 1.0 / 479001600.0;
        sum = sum * r + 1.0 / 39916800.0;
        sum = sum * r + 1.0 / 3628800.0;
        sum = sum * r + 1.0 / 362880.0;
        sum = sum * r + 1.0 / 40320.0;
        sum = sum * r + 1.0 / 5040.0;
        sum = sum * r + 1.0 / 720.0;
        sum = sum * r + 1.0 / 120.0;
        sum = sum * r + 1.0 / 24.0;
        sum = sum * r + 1.0 / 6.0;
        sum = sum * r + 0.5;
        sum = sum * r + 1.0;
        return {std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + 1023) << 52), sum * r};
    }
};

// exp(x) for x <= 0; 0 below -700.
OLTPSIM_INLINE double exp_negative(double x) {
    const Exponential e = Exponential::of(x < -700.0 ? -700.0 : x);
    const double value = e.two_power + e.two_power * e.rest;
    return x < -700.0 ? 0.0 : value;
}

// 1 - exp(-x) for x >= 0, exact for small ones too.
OLTPSIM_INLINE double one_minus_exp(double x) {
    const Exponential e = Exponential::of(x > 700.0 ? -700.0 : -x);
    return (1.0 - e.two_power) - e.two_power * e.rest;
}

// (1 - exp(-x)) / (x exp(-x)) for 0 < x <= 700: the mean of exp from 0 to x.
OLTPSIM_INLINE double mean_growth(double x) {
    const Exponential e = Exponential::of(-x);
    return ((1.0 - e.two_power) - e.two_power * e.rest) / (x * (e.two_power + e.two_power * e.rest));
}

OLTPSIM_INLINE double exp_of(double x) { return x <= 0.0 ? exp_negative(x) : 1.0 / exp_negative(-x); }

// Natural logarithm of x > 0, subnormal numbers left out, by the series of atanh: within 1e-15 of the number.
OLTPSIM_INLINE double log_of(double x) {
    constexpr double LN2 = 0.6931471805599453, TWO_52 = 4503599627370496.0;
    constexpr std::uint64_t ONE = 0x3ff0000000000000, ROOT_OF_HALF = 0x3fe6a09e667f3bcd;
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(x), exponent = (bits + (ONE - ROOT_OF_HALF)) >> 52;
    const double m = std::bit_cast<double>(bits - ((exponent << 52) - ONE));  // from the root of a half to that of 2
    const double k = std::bit_cast<double>(exponent | std::bit_cast<std::uint64_t>(TWO_52)) - (TWO_52 + 1023.0);
    const double s = (m - 1.0) / (m + 1.0), square = s * s;
    double sum = 0.0;
    for (int odd = 21; odd >= 1; odd -= 2) sum = sum * square + 1.0 / odd;
    const double value = 2.0 * s * sum + k * LN2;
    return x > 0.0 ? (x < INFINITY ? value : x) : (x == 0.0 ? -INFINITY : NAN);
}

inline double power(double x, double exponent) { return x > 0.0 ? exp_of(exponent * log_of(x)) : 0.0; }

// Zero of a rising function between two bounds with values there, to within `tolerance`: inverse quadratic
// interpolation, or else bisection (Chandrupatla, Advances in Engineering Software 28, 1997), of which the first step
// is linear interpolation. A bound if the function has one sign only.
template <class Function>
double root_between(Function function, double low, double at_low, double high, double at_high, double tolerance) {
    if (at_low >= 0.0) return low;
    if (at_high <= 0.0) return high;
    double guess = low, other = high, at_guess = at_low, at_other = at_high;
    double step = clip(at_guess / (at_guess - at_other), 0.1, 0.9);
    for (int number = 0; number < 200; number++) {
        const double tried = guess + step * (other - guess), at_tried = function(tried);
        double third = guess, at_third = at_guess;
        if ((at_tried > 0.0) != (at_guess > 0.0)) {
            third = other;
            at_third = at_other;
            other = guess;
            at_other = at_guess;
        }
        guess = tried;
        at_guess = at_tried;
        const bool nearer = std::abs(at_guess) < std::abs(at_other);
        const double best = nearer ? guess : other;
        const double least = tolerance / std::max(std::abs(other - guess), LEAST);
        if (at_guess == 0.0 || least > 0.5) return at_guess == 0.0 ? guess : best;
        const double xi = (guess - other) / (third - other), phi = (at_guess - at_other) / (at_third - at_other);
        step = 0.5;
        if (phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi)
            step =
                at_guess / (at_other - at_guess) * at_third / (at_other - at_third) +
                (third - guess) / (other - guess) * at_guess / (at_third - at_guess) * at_other / (at_third - at_other);
        step = clip(step, least, 1.0 - least);
    }
    return guess;
}

template <class Function>
double root_between(Function function, double low, double high, double tolerance) {
    const double at_low = function(low);
    return root_between(function, low, at_low, high, at_low < 0.0 ? function(high) : 0.0, tolerance);
}

// Zero of a rising function near `guess` and between two bounds, by secants; the first step takes the slope for 1. What
// is known to lie on either side of the zero is halved where a secant leaves it, and by turns once they are too many. A
// step below `tolerance` is the last. A bound if the function has one sign only.
template <class Function>
double root_near(Function function, double guess, double low, double high, double tolerance) {
    constexpr int MOST_SECANTS = 8, MOST_STEPS = 200;
    double place = clip(guess, low, high), value = function(place), slope = 1.0;
    bool below = false;  // whether the function is negative at `low`
    bool above = false;  // and positive at `high`
    for (int number = 0; number < MOST_STEPS && value != 0.0; number++) {
        if (value < 0.0) {
            if (place >= high) return high;
            low = place;
            below = true;
        } else {
            if (place <= low) return low;
            high = place;
            above = true;
        }
        double next = place - value / slope;
        const bool is_far = !(next > low && next < high) || (number > MOST_SECANTS && number % 2 == 0);
        next = is_far && below && above ? (low + high) / 2.0 : clip(next, low, high);
        const double step = next - place;
        if (std::abs(step) <= tolerance) return next;
        const double at_next = function(next);
        slope = at_next != value ? (at_next - value) / step : 1.0;
        if (!(slope > 0.0)) slope = 1.0;
        place = next;
        value = at_next;
    }
    return place;
}

// Sum in an order that lets compilers add four at once.
OLTPSIM_INLINE double total(const Numbers& values) {
    double sums[4] = {};
    std::size_t i = 0;
    for (; i + 4 <= values.size(); i += 4)
        for (std::size_t k = 0; k < 4; k++) sums[k] += values[i + k];
    for (; i < values.size(); i++) sums[0] += values[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// A table over a rising scale, read between its points; its ends hold beyond them.
struct Curve {
    Numbers x, y;

    double operator()(double where) const {
        if (where <= x.front()) return y.front();
        if (where >= x.back()) return y.back();
        const auto above = static_cast<std::size_t>(std::upper_bound(x.begin(), x.end(), where) - x.begin());
        return y[above - 1] + (y[above] - y[above - 1]) * (where - x[above - 1]) / (x[above] - x[above - 1]);
    }
};

}  // namespace oltpsim
