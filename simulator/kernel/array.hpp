// Array: a vector with 64-bit indices, whose every access is checked in the test build (OLTPSIM_CHECKED).
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

namespace oltpsim {

using i8 = std::int8_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;

constexpr i32 NONE = -1;  // no task, request, slot, page or lock

// A system that the kernel has no numbers for.
struct TooLarge : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline void check([[maybe_unused]] bool holds) {
#ifdef OLTPSIM_CHECKED
    if (!holds) std::abort();
#endif
}

// Division towards minus infinity, and what is left of it.
inline i64 floor_div(i64 value, i64 divisor) {
    return value >= 0 ? value / divisor : -((-value + divisor - 1) / divisor);
}
inline i64 modulo(i64 value, i64 divisor) { return value - floor_div(value, divisor) * divisor; }

// View: a part of an array, checked as well.
template <class T>
class View {
public:
    View(T* first, i64 size) : first(first), size(size) {}

    T& operator[](i64 place) const {
        check(0 <= place && place < size);
        return first[place];
    }

private:
    T* first;
    i64 size;
};

// Memory in huge pages where it is much: places drawn at random are found without a walk through page tables.
template <class T>
struct HugePages {
    using value_type = T;
    static constexpr std::size_t PAGE_BYTES = std::size_t{1} << 21;

    HugePages() = default;
    template <class U>
    HugePages(const HugePages<U>&) {}

    T* allocate(std::size_t count) {
        const std::size_t bytes = count * sizeof(T);
        if (bytes < 2 * PAGE_BYTES) return std::allocator<T>().allocate(count);
        const std::size_t whole = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
        void* const memory = std::aligned_alloc(PAGE_BYTES, whole);
        if (memory == nullptr) throw std::bad_alloc();
        madvise(memory, whole, MADV_HUGEPAGE);
        return static_cast<T*>(memory);
    }

    void deallocate(T* memory, std::size_t count) {
        if (count * sizeof(T) < 2 * PAGE_BYTES)
            std::allocator<T>().deallocate(memory, count);
        else
            std::free(memory);
    }

    bool operator==(const HugePages&) const { return true; }
};

template <class T>
class Array {
public:
    Array() = default;
    explicit Array(i64 size, const T& value = T{}) : items(static_cast<std::size_t>(size), value) {}
    template <class Values>
    static Array of(const Values& values) {
        Array copy;
        for (const auto& value : values) copy.add(static_cast<T>(value));
        return copy;
    }

    T& operator[](i64 place) {
        check(0 <= place && place < size());
        return items[static_cast<std::size_t>(place)];
    }
    const T& operator[](i64 place) const {
        check(0 <= place && place < size());
        return items[static_cast<std::size_t>(place)];
    }

    i64 size() const { return static_cast<i64>(items.size()); }
    bool empty() const { return items.empty(); }
    T* data() { return items.data(); }
    const T* data() const { return items.data(); }
    View<T> part(i64 first, i64 length) {
        check(0 <= first && 0 <= length && first + length <= size());
        return {items.data() + first, length};
    }
    T& back() { return (*this)[size() - 1]; }
    void add(T value) { items.push_back(std::move(value)); }
    void remove_last() { items.pop_back(); }
    void clear() { items.clear(); }
    void resize(i64 size) { items.resize(static_cast<std::size_t>(size)); }
    auto begin() { return items.begin(); }
    auto end() { return items.end(); }
    auto begin() const { return items.begin(); }
    auto end() const { return items.end(); }

private:
    std::vector<T, HugePages<T>> items;
};

// Ring: a queue of any length, first in, first out.
template <class T>
class Ring {
public:
    bool empty() const { return count == 0; }
    i64 size() const { return count; }

    void add(T value) {
        if (count == places.size()) grow();
        places[(first + count++) & (places.size() - 1)] = value;
    }

    T& at(i64 place) {
        check(place >= 0 && place < count);
        return places[(first + place) & (places.size() - 1)];
    }

    T take() {
        check(count > 0);
        T value = places[first];
        first = (first + 1) & (places.size() - 1);
        count--;
        return value;
    }

private:
    Array<T> places{64};
    i64 first = 0, count = 0;

    void grow() {
        Array<T> larger(2 * places.size());
        for (i64 i = 0; i < count; i++) larger[i] = places[(first + i) & (places.size() - 1)];
        places = std::move(larger);
        first = 0;
    }
};

}  // namespace oltpsim
