// A program (simulator/form/program.py): operations over numbered tables, and what changes while it runs.
#pragma once
#include "streams.hpp"

namespace oltpsim {

using form::Code, form::ReferenceKind;
using Operation = form::OperationRow;
using Reference = form::ReferenceRow;
using Region = form::RegionRow;

// References of a region, by what served them.
struct TableCounters {
    i64 pool_hits = 0;
    i64 pool_misses = 0;
    i64 page_cache_hits = 0;
    i64 disk_reads = 0;
    i64 created = 0;
};

class Program {
public:
    const Rows<Operation> operations;
    const Matrix<i64> entries;
    const Rows<Region> regions;
    const Rows<Reference> references;
    Array<TableCounters> table_counters;  // by region

    explicit Program(const form::SeededRun& run)
        : operations(run.system.program.operations),
          entries(run.system.program.entries),
          regions(run.system.program.regions),
          references(run.system.program.references),
          table_counters(regions.size()),
          given(run.system.program),
          ziggurat(run.ziggurat_edges, run.ziggurat_densities),
          registers_per_task(run.system.client_registers.width),
          streams_per_task(run.streams.width),
          registers(Array<i64>::of(run.system.client_registers)),
          streams(Array<Stream>::of(run.streams)) {
        for (const form::AliasEntry& entry : given.alias)
            alias.add({static_cast<u32>(std::min<i64>(entry.cut, UINT32_MAX)), static_cast<u32>(entry.other)});
        i64 pages = 0, owners = 0;
        for (const form::WindowRow& rings : given.windows) {
            pages += rings.length * rings.groups;
            owners += rings.groups;
        }
        remembered = Array<i32>(pages, NONE);
        seen = Array<i64>(owners, 0);
    }

    i64 lock_count() const {
        i64 locks = 0;
        for (const form::TableSpan& table : given.lock_tables) locks += table.length;
        return locks;
    }
    i64 lock_of(i64 table, i64 row) const { return given.lock_tables[table].start + row; }
    View<i64> registers_of(i32 task) { return registers.part(task * registers_per_task, registers_per_task); }
    View<Stream> streams_of(i32 task) { return streams.part(task * streams_per_task, streams_per_task); }
    i64& counter(i64 table, i64 group) { return counters[given.counter_tables[table].start + group]; }
    View<i64> counters_of(i64 table, i64 group, i64 count) {
        return counters.part(given.counter_tables[table].start + group, count);
    }

    AliasTable sampler(i64 number) const {
        const form::TableSpan& span = given.tables[number];
        return {alias.data() + span.start, span.length};
    }
    i64 draw_ns(i64 distribution, Stream& stream) const {
        return oltpsim::draw_ns(given.distributions[distribution], stream, ziggurat);
    }
    const Ziggurat& exponential() const { return ziggurat; }

    // The state at time 0: what windows remember, ring by ring, and how many pages each owner's ring has taken in.
    void begin(const form::StartState& state) {
        if (state.windows.size() > remembered.size() || state.seen.size() > seen.size())
            throw std::invalid_argument("internal: a start that remembers more than the program has windows for");
        counters = Array<i64>::of(state.counters);
        high = Array<i64>::of(state.high);
        for (i64 i = 0; i < state.windows.size(); i++) remembered[i] = static_cast<i32>(state.windows[i]);
        for (i64 i = 0; i < state.seen.size(); i++) seen[i] = state.seen[i];
    }

    // The page that a reference means now, or NONE for an empty window; whether it is created instead of read.
    i64 find_page(View<i64> registers_now, View<Stream> stream, const Reference& reference, bool& creates) {
        const Region& region = regions[reference.region];
        const i64 group = registers_now[reference.group_register];
        const i64 first = region.base + group * region.group_pages;
        switch (reference.kind) {
            case ReferenceKind::recent: {
                const form::WindowRow& window = given.windows[reference.window];
                const i64 owner = registers_now[reference.row_register];
                const i64 filled = std::min(seen[window.seen + owner], window.length);
                if (filled == 0) return NONE;
                const i64 chosen = uniform_below(stream[reference.stream], filled);
                return remembered[window.start + owner * window.length + chosen];
            }
            case ReferenceKind::popular: {
                const i64 page = first + sampler(reference.sampler).draw(stream[reference.stream]);
                if (reference.window >= 0) {
                    const form::WindowRow& window = given.windows[reference.window];
                    const i64 owner = registers_now[reference.row_register];
                    i64& taken_in = seen[window.seen + owner];
                    remembered[window.start + owner * window.length + taken_in % window.length] =
                        static_cast<i32>(page);
                    taken_in++;
                }
                return page;
            }
            case ReferenceKind::append:
            case ReferenceKind::row:
                break;
        }
        const i64 offset = floor_div(registers_now[reference.row_register], region.rows_per_page);
        if (reference.kind == ReferenceKind::append && offset > high[reference.high + group]) {
            high[reference.high + group] = offset;
            creates = true;
        }
        return first + (0 <= offset && offset < region.group_pages ? offset : modulo(offset, region.group_pages));
    }

    // What has changed; `pages` holds what windows remember.
    form::Values values(Array<i64>& pages) const {
        pages = Array<i64>::of(remembered);
        return {matrix(counters, 1),
                matrix(registers, registers_per_task),
                matrix(streams, streams_per_task),
                matrix(high, 1),
                matrix(pages, 1),
                matrix(seen, 1)};
    }

private:
    const form::Program& given;
    Ziggurat ziggurat;
    Array<AliasRow> alias;
    const i64 registers_per_task;
    const i64 streams_per_task;

    // What changes
    Array<i64> counters;
    Array<i64> registers;
    Array<Stream> streams;
    Array<i64> high;  // highest page that appends have reached, by `high` of the reference + group
    Array<i32> remembered;
    Array<i64> seen;
};

}  // namespace oltpsim
