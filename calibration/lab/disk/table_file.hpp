// A file of tables: how a disk's parts come from Python, which has made them of a spec.
//
// Of each table a line with its name, its number of rows and its columns; then a line of whole numbers for each row.
#pragma once
#include <deque>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tables.hpp"

namespace oltpsim {

class TableFile {
public:
    explicit TableFile(const std::string& path) {
        std::ifstream file(path);
        if (!file) throw std::invalid_argument(path + ": can't be read");
        for (std::string line; std::getline(file, line);) {
            std::istringstream words(line);
            Text& table = texts.emplace_back();
            if (!(words >> table.name >> table.rows)) throw std::invalid_argument(path + ": not a file of tables");
            for (std::string column; words >> column; table.width++) table.columns += column + " ";
            for (i64 row = 0; row < table.rows && std::getline(file, line); row++) {
                std::istringstream numbers(line);
                for (i64 value; numbers >> value;) table.values.push_back(value);
            }
            if (static_cast<i64>(table.values.size()) != table.rows * table.width)
                throw std::invalid_argument(path + ": table " + table.name + " is not whole");
        }
        for (const Text& table : texts)
            passed.push_back({table.name.c_str(), table.columns.c_str(), table.values.data(), table.rows, table.width});
    }

    Tables tables() const { return Tables(passed.data(), static_cast<i64>(passed.size())); }

private:
    struct Text {
        std::string name, columns;
        i64 rows = 0, width = 0;
        std::vector<i64> values;
    };

    std::deque<Text> texts;
    std::vector<oltpsim_table> passed;  // point into `texts`
};

}  // namespace oltpsim
