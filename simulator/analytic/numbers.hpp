// Numbers: constants, elementary functions that give the same bytes on every machine, and roots of one unknown.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace oltpsim {

using i64 = std::int64_t;
using Numbers = std::vector<double>;

constexpr double TINY = 1e-12;
constexpr double LEAST = 1e-100;
constexpr double ENDLESS = 1e9;  // seconds that stand for a queue without end

inline std::size_t at(i64 place) { return static_cast<std::size_t>(place); }
inline double clip(double value, double low, double high) { return std::min(std::max(value, low), high); }

// exp(x) for x <= 0, in a form that compilers vectorise: x = k log 2 + r, and the series of exp(r). Two units in the
// last place at most; 0 below -700.
inline double exp_negative(double x) {
    constexpr double ROUND = 6755399441055744.0;  // 1.5 * 2^52: what is added to it is rounded to a whole number
    constexpr double LOG2_E = 1.4426950408889634, LN2_HIGH = 0.69314718036912382, LN2_LOW = 1.9082149292705877e-10;
    const double bounded = x > -700.0 ? x : -700.0;
    const double shifted = bounded * LOG2_E + ROUND;
    const double k = shifted - ROUND;
    const double r = (bounded - k * LN2_HIGH) - k * LN2_LOW;
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
    sum = sum * r + 1.0;
    const std::uint64_t bits = (std::bit_cast<std::uint64_t>(shifted) + 1023) << 52;
    return x > -700.0 ? sum * std::bit_cast<double>(bits) : x != x ? x : 0.0;
}

// 1 - exp(-x) for x >= 0, exact for small ones too.
inline double one_minus_exp(double x) {
    const double small = x * (1.0 - x * (0.5 - x * (1.0 / 6.0 - x / 24.0)));
    return x < 1e-3 ? small : 1.0 - exp_negative(-x);
}

inline double exp_of(double x) { return x <= 0.0 ? exp_negative(x) : 1.0 / exp_negative(-x); }

// Natural logarithm of x > 0 by the series of atanh: within 1e-15 of the number.
inline double log_of(double x) {
    constexpr double LN2 = 0.6931471805599453;
    if (!(x > 0.0)) return x == 0.0 ? -INFINITY : NAN;
    if (std::isinf(x)) return x;
    int exponent = 0;
    double m = std::frexp(x, &exponent);
    if (m < 0.7071067811865476) m *= 2.0, exponent--;
    const double s = (m - 1.0) / (m + 1.0), square = s * s;
    double sum = 0.0;
    for (int odd = 21; odd >= 1; odd -= 2) sum = sum * square + 1.0 / odd;
    return 2.0 * s * sum + exponent * LN2;
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
            third = other, at_third = at_other;
            other = guess, at_other = at_guess;
        }
        guess = tried, at_guess = at_tried;
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
