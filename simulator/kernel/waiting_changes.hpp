// Changes that were put aside: the pages that have some, none of which was in the pool when they were noted.
//
// A page comes off when it is read, for whatever reason; what waits is then merged into it. How many changes a page has
// doesn't matter: they are merged together.
#pragma once
#include "program.hpp"

namespace oltpsim {

class WaitingChanges {
public:
    explicit WaitingChanges(const form::Program& program) {
        for (const Region* region : regions(program)) {
            areas.add({region->base, pages_of(*region), places.size()});
            places.resize(places.size() + pages_of(*region));
        }
        std::fill(places.begin(), places.end(), NONE);
    }

    // Memory that they take: a place for each page that may be put aside.
    static i64 bytes(const form::Program& program) {
        i64 pages = 0;
        for (const Region* region : regions(program)) pages += pages_of(*region);
        return pages * static_cast<i64>(sizeof(i32));
    }

    // A change of a page waits.
    void note(i32 page) {
        i32& place = place_of(page);
        if (place != NONE) return;
        place = static_cast<i32>(waiting.size());
        waiting.add(page);
    }

    // Whether changes of a page wait.
    bool has(i64 page) const {
        for (const Area& area : areas)
            if (area.has(page)) return places[area.first_place + page - area.base] != NONE;
        return false;
    }

    // Changes of a page wait no longer; false if none did.
    bool take(i32 page) {
        if (waiting.empty() || !has(page)) return false;
        const i32 place = std::exchange(place_of(page), NONE), last = waiting[waiting.size() - 1];
        if (last != page) waiting[place] = last, place_of(last) = place;
        waiting.resize(waiting.size() - 1);
        return true;
    }

    // Two pages change their places in `pages`.
    void swap(i64 one, i64 other) {
        std::swap(waiting[one], waiting[other]);
        for (const i64 place : {one, other}) place_of(waiting[place]) = static_cast<i32>(place);
    }

    const Array<i32>& pages() const { return waiting; }

private:
    // Pages of a region that may be put aside, and where those are in `places`.
    struct Area {
        i64 base, count, first_place;

        bool has(i64 page) const { return base <= page && page < base + count; }
    };

    Array<Area> areas;
    Array<i32> places;   // in `waiting`, by page of the areas
    Array<i32> waiting;  // pages

    // Regions of the references that put changes aside, in order.
    static Array<const Region*> regions(const form::Program& program) {
        Array<i64> puts_aside(program.regions.size(), 0);
        for (const Operation& operation : program.operations)
            if (operation.code == Code::put_aside) puts_aside[program.references[operation.a].region] = 1;
        Array<const Region*> found;
        for (i64 number = 0; number < puts_aside.size(); number++)
            if (puts_aside[number] != 0) found.add(&program.regions[number]);
        return found;
    }

    static i64 pages_of(const Region& region) { return region.groups * region.group_pages; }

    i32& place_of(i32 page) {
        for (const Area& area : areas)
            if (area.has(page)) return places[area.first_place + page - area.base];
        throw std::invalid_argument("changes of page " + std::to_string(page) + " are never put aside");
    }
};

}  // namespace oltpsim
