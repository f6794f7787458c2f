// Columns: what Python's rows of numbers become, read into records and written from them (records.hpp, made at build).
#pragma once
#include "numbers.hpp"

namespace oltpsim {

// Numbers of each class, lock use or group of pages, which stay in the row; null where there are none.
struct ByClass {
    const double* values = nullptr;
    double operator[](std::size_t number) const { return values[number]; }
};
struct ByLock : ByClass {};
struct ByGroup : ByClass {};

struct Widths {
    i64 classes = 0, locks = 0, groups = 0;
};

// Fills a record from a row.
struct RowReader {
    const double* row;
    const Widths& widths;

    void operator()(double& number) { number = *row++; }
    template <std::size_t points>
    void operator()(double (&table)[points]) {
        std::copy_n(row, points, table);
        row += points;
    }
    void operator()(ByClass& part) { refer(part, widths.classes); }
    void operator()(ByLock& part) { refer(part, widths.locks); }
    void operator()(ByGroup& part) { refer(part, widths.groups); }
    template <class Record>
    void operator()(Record& record) {
        record.each(*this);
    }

private:
    void refer(ByClass& part, i64 width) {
        part.values = width > 0 ? row : nullptr;
        row += width;
    }
};

// Numbers that a record takes of a row.
struct RowWidth {
    Widths widths;
    i64 width = 0;

    void operator()(double&) { width++; }
    template <std::size_t points>
    void operator()(double (&)[points]) {
        width += static_cast<i64>(points);
    }
    void operator()(ByClass&) { width += widths.classes; }
    void operator()(ByLock&) { width += widths.locks; }
    void operator()(ByGroup&) { width += widths.groups; }
    void operator()(Numbers& values) { width += static_cast<i64>(values.size()); }
    template <class Record>
    void operator()(Record& record) {
        record.each(*this);
    }
};

// Writes a record's figures into a row.
struct RowWriter {
    double* row;

    void operator()(double& number) { *row++ = number; }
    void operator()(Numbers& values) { row = std::copy(values.begin(), values.end(), row); }
    template <class Record>
    void operator()(Record& record) {
        record.each(*this);
    }
};

}  // namespace oltpsim
