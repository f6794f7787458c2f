// Random streams: SplitMix64, one 64-bit state each, and what is drawn from them.
// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
#pragma once
#include <cmath>

#include "records.hpp"

namespace oltpsim {

using Stream = u64;

inline u64 next_bits(Stream& stream) {
    u64 z = stream += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// The upper 53 bits as a number in [0, 1).
inline double share_of(u64 bits) { return static_cast<double>(static_cast<i64>(bits >> 11)) * 0x1.0p-53; }

// An integer in 0..bound-1, bound below 2^32; the bias is below bound / 2^32.
inline i64 uniform_below(Stream& stream, i64 bound) {
    return static_cast<i64>(((next_bits(stream) >> 32) * static_cast<u64>(bound)) >> 32);
}

// True with probability cut / 2^32.
inline bool chance(Stream& stream, i64 cut) { return static_cast<i64>(next_bits(stream) >> 32) < cut; }

// Alias table, a row for each value: below the cut it is drawn, else `other`, which is the value itself in a row whose
// cut is 2^32 or one less. Source: Walker 1977; Vose 1991.
struct AliasRow {
    u32 cut;
    u32 other;
};

struct AliasTable {
    const AliasRow* rows;
    i64 length;

    i64 draw(Stream& stream) const {
        const u64 bits = next_bits(stream);
        const i64 column = static_cast<i64>(((bits >> 32) * static_cast<u64>(length)) >> 32);
        check(0 <= column && column < length);
        const AliasRow& row = rows[column];
        return static_cast<u32>(bits) < row.cut ? column : i64{row.other};
    }
};

// Ziggurat of exponential times: 256 layers of equal area below exp(-x).
// Source: Marsaglia, Tsang, "The ziggurat method for generating random variables", J. Stat. Software 5(8), 2000.
class Ziggurat {
public:
    // edges, densities: (257,), the lowest layer first; it has the tail in it, so its edge is its area by its height.
    // They come with the system: every engine draws by the same.
    Ziggurat(const Matrix<double>& edges, const Matrix<double>& densities) {
        if (edges.size() != LAYERS + 1 || densities.size() != LAYERS + 1)
            throw std::invalid_argument("internal: a ziggurat of other layers than the kernel's");
        for (int i = 0; i <= LAYERS; i++) edge[i] = edges[i], density[i] = densities[i];
    }

    // Exponential time in whole ns; one draw and no logarithm in 99 of 100 cases.
    i64 draw_ns(Stream& stream, i64 mean_ns) const {
        const u64 bits = next_bits(stream);
        const u64 layer = bits & (LAYERS - 1);
        double x = share_of(bits) * edge[layer];
        if (x >= edge[layer + 1]) [[unlikely]]
            x = draw_beyond(stream, layer, x);
        return static_cast<i64>(x * static_cast<double>(mean_ns));
    }

private:
    static constexpr int LAYERS = 256;
    double edge[LAYERS + 1];
    double density[LAYERS + 1];

    // The one case in 100: a place in a layer that isn't wholly below the density.
    double draw_beyond(Stream& stream, u64 layer, double x) const {
        double passed = 0.0;
        do {
            if (layer == 0) {
                passed += edge[1];  // what comes after the widest edge is distributed like the whole
            } else {
                const double height = share_of(next_bits(stream));
                if (density[layer] + height * (density[layer + 1] - density[layer]) < std::exp(-x)) break;
            }
            const u64 bits = next_bits(stream);
            layer = bits & (LAYERS - 1);
            x = share_of(bits) * edge[layer];
        } while (x >= edge[layer + 1]);
        return passed + x;
    }
};

inline i64 draw_ns(const form::Distribution& times, Stream& stream, const Ziggurat& ziggurat) {
    switch (times.kind) {
        case form::DistributionKind::constant:
            return times.a;
        case form::DistributionKind::exponential:
            return ziggurat.draw_ns(stream, times.a);
        case form::DistributionKind::uniform:
            return times.a + static_cast<i64>(share_of(next_bits(stream)) * static_cast<double>(times.b - times.a));
        case form::DistributionKind::erlang: {
            i64 total = 0;
            for (i64 phase = 0; phase < times.b; phase++) total += ziggurat.draw_ns(stream, times.a / times.b);
            return total;
        }
    }
    return times.a;
}

}  // namespace oltpsim
