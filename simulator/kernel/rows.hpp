// Parts of the records from Python (.ci/schema.py): words of eight bytes, and pointers to memory of Python.
#pragma once
#include "array.hpp"

namespace oltpsim {

struct Flag {
    i64 value;  // 0 or 1

    operator bool() const { return value != 0; }
};

// Numbers from `first` to before `end`.
struct Range {
    i64 first, end;
};

template <class T>
struct Rows {
    const T* first;
    i64 count;

    i64 size() const { return count; }
    bool empty() const { return count == 0; }
    const T* begin() const { return first; }
    const T* end() const { return first + count; }
    const T& operator[](i64 row) const {
        check(0 <= row && row < count);
        return first[row];
    }
};

// Numbers of an array of one dimension (`width` 1) or two, row by row.
template <class T>
struct Matrix {
    const T* first;
    i64 rows;
    i64 width;

    i64 size() const { return rows * width; }
    const T* begin() const { return first; }
    const T* end() const { return first + size(); }
    const T& operator[](i64 place) const {
        check(0 <= place && place < size());
        return first[place];
    }
};

// Contents of an array in rows of a width: of numbers with a sign or without, or of records in words.
template <class T>
Matrix<i64> matrix(const Array<T>& values, i64 width) {
    static_assert(sizeof(T) == sizeof(i64));
    return {reinterpret_cast<const i64*>(values.data()), width > 0 ? values.size() / width : 0, width};
}

template <class T>
Rows<T> rows(const Array<T>& values) {
    return {values.data(), values.size()};
}

}  // namespace oltpsim
