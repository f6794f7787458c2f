// A file with a record of a run: how a disk's parts come from Python, which has made them of a spec.
//
// The digest of the layout, then three lines of whole numbers: how many words the record has; all words, those of the
// record last, in which a pointer is the place of the word that it points to; and the places of the pointers
// (simulator/kernel/words.py).
#pragma once
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "records.hpp"

namespace oltpsim {

class RecordFile {
public:
    explicit RecordFile(const std::string& path) {
        std::ifstream file(path);
        if (!file) throw std::invalid_argument(path + ": can't be read");
        std::string digest;
        std::getline(file, digest);
        const std::vector<i64> size = line(file);
        words = line(file);
        const i64 of_record = static_cast<i64>(sizeof(form::SeededRun) / sizeof(i64)),
                  all = static_cast<i64>(words.size());
        if (digest != form::DIGEST || size.size() != 1 || size[0] != of_record || all < of_record)
            throw std::invalid_argument(path + ": not a file with a run's record of this version");
        for (const i64 place : line(file)) {
            if (place < 0 || place >= all || word(place) < 0 || word(place) > all)
                throw std::invalid_argument(path + ": a pointer leads out of the file");
            word(place) = reinterpret_cast<i64>(words.data() + word(place));
        }
        record = reinterpret_cast<const form::SeededRun*>(words.data() + all - of_record);
    }
    RecordFile(const RecordFile&) = delete;

    const form::SeededRun& run() const { return *record; }

private:
    std::vector<i64> words;
    const form::SeededRun* record;

    i64& word(i64 place) { return words[static_cast<std::size_t>(place)]; }

    static std::vector<i64> line(std::ifstream& file) {
        std::string text;
        std::getline(file, text);
        std::istringstream numbers(text);
        std::vector<i64> values;
        for (i64 value; numbers >> value;) values.push_back(value);
        return values;
    }
};

}  // namespace oltpsim
