// Tables: a system as the kernel takes it and figures as it gives them back, whole numbers under names of columns.
#pragma once
#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string>

#include "array.hpp"

// A table across the C interface. `columns`: names with spaces between; empty if the width alone says what they are.
extern "C" struct oltpsim_table {
    const char* name;
    const char* columns;
    const std::int64_t* values;  // rows x width, row by row
    std::int64_t rows;
    std::int64_t width;
};

namespace oltpsim {

class Table {
public:
    explicit Table(const oltpsim_table& given) : given(given) {
        std::istringstream words(given.columns);
        for (std::string word; words >> word;) columns.add(word);
    }

    i64 rows() const { return given.rows; }
    i64 width() const { return given.width; }
    std::string name() const { return given.name; }

    i64 at(i64 row, i64 column) const {
        check(0 <= row && row < given.rows && 0 <= column && column < given.width);
        return given.values[row * given.width + column];
    }

    i64 at(i64 row, const std::string& column) const {
        for (i64 i = 0; i < columns.size(); i++)
            if (columns[i] == column) return at(row, i);
        throw std::invalid_argument("table " + name() + " has no column " + column);
    }

    bool has(const std::string& column) const {
        return std::find(columns.begin(), columns.end(), column) != columns.end();
    }

    const i64* row(i64 number) const { return given.values + number * given.width; }

private:
    oltpsim_table given;
    Array<std::string> columns;
};

class Tables {
public:
    Tables(const oltpsim_table* given, i64 count) {
        for (i64 i = 0; i < count; i++) tables.add(Table(given[i]));
    }

    const Table& operator[](const std::string& name) const {
        for (const Table& table : tables)
            if (table.name() == name) return table;
        throw std::invalid_argument("there is no table " + name);
    }

    // A number that the whole system has one of.
    i64 fact(const std::string& name) const { return (*this)["system"].at(0, name); }

private:
    Array<Table> tables;
};

// A table that is written row by row.
struct Report {
    std::string columns;
    i64 width = 0;
    Array<i64> values;

    explicit Report(const std::string& columns) : columns(columns) {
        std::istringstream words(columns);
        for (std::string word; words >> word;) width++;
    }
    explicit Report(i64 width) : width(width) {}

    template <class... Values>
    void add(Values... row) {
        (values.add(static_cast<i64>(row)), ...);
    }
};

}  // namespace oltpsim
