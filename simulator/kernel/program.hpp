// A program (simulator/form/program.py): operations over numbered tables, and what changes while it runs.
#pragma once
#include "streams.hpp"
#include "tables.hpp"

namespace oltpsim {

// In the order of simulator.form.OPERATIONS.
enum class Code : i64 {
    think,
    arrive,
    choose,
    end,
    uniform,
    sample,
    other,
    set,
    combine,
    affine,
    maybe,
    jump,
    loop,
    take,
    claim,
    peek,
    cpu,
    work,
    visit,
    touch,
    lock,
    section,
    log,
    commit,
    rollback,
    network,
    enter,
    visit_one,
    gate,
    put,
    note,
    sleep_until,
    if_between,
    flush,
    if_equal,
    put_aside,
};

struct Operation {
    Code code;
    i64 a, b, c, d, e;  // operands, as OPERATIONS names them
};

constexpr i64 WITH_INDEX_PAGE = 2;  // of a touch that changes the index page too

// Pages of a table or index, in groups; `index`: the region of index pages above it or NONE, one per `fanout` pages.
struct Region {
    i64 base, groups, group_pages, rows_per_page, index, fanout;
};

enum class ReferenceKind : i64 { popular, row, append, recent };

struct Reference {
    ReferenceKind kind;
    i64 region, group_register, row_register, sampler, window, stream, high;
};

// Rings that remember the last pages of each group; `seen`: the first of the counters of what each ring has taken in.
struct RecentPages {
    i64 start, length, groups, seen;
};

struct TableCounters {
    i64 pool_hits = 0;
    i64 pool_misses = 0;
    i64 page_cache_hits = 0;
    i64 disk_reads = 0;
    i64 created = 0;
};

class Program {
public:
    Array<Operation> operations;
    Array<i64> entries;
    Array<Region> regions;
    Array<Reference> references;
    Array<i64> counters;
    Array<TableCounters> table_counters;  // by region
    const i64 registers_per_task;
    const i64 streams_per_task;

    explicit Program(const Tables& system)
        : registers_per_task(system["registers"].width()),
          streams_per_task(system["streams"].width()),
          ziggurat(system["ziggurat"].row(0), system["ziggurat"].row(1)) {
        read_operations(system["operations"]);
        for (const Table& table = system["entries"]; entries.size() < table.rows();)
            entries.add(table.at(entries.size(), 0));
        read_pages(system);
        const Table& alias_table = system["alias"];
        for (i64 i = 0; i < alias_table.rows(); i++)
            alias.add({static_cast<u32>(std::min<i64>(alias_table.at(i, 0), UINT32_MAX)),
                       static_cast<u32>(alias_table.at(i, 1))});
        const Table& spans = system["samplers"];
        for (i64 i = 0; i < spans.rows(); i++) samplers.add({spans.at(i, 0), spans.at(i, 1)});
        const Table& times = system["distributions"];
        for (i64 i = 0; i < times.rows(); i++)
            distributions.add({static_cast<DistributionKind>(times.at(i, 0)), times.at(i, 1), times.at(i, 2)});
        copy(system["counters"], counters);
        const Table& counter_table = system["counter_tables"];
        for (i64 i = 0; i < counter_table.rows(); i++) counter_starts.add(counter_table.at(i, 0));
        const Table& locks = system["lock_tables"];
        for (i64 i = 0; i < locks.rows(); i++) {
            lock_starts.add(locks.at(i, 0));
            locks_in_all += locks.at(i, 1);
        }
        copy(system["registers"], registers);
        const Table& states = system["streams"];
        for (i64 i = 0; i < states.rows() * states.width(); i++) streams.add(static_cast<Stream>(states.row(0)[i]));
    }

    i64 lock_count() const { return locks_in_all; }
    i64 lock_of(i64 table, i64 row) const { return lock_starts[table] + row; }
    View<i64> registers_of(i32 task) { return registers.part(task * registers_per_task, registers_per_task); }
    View<Stream> streams_of(i32 task) { return streams.part(task * streams_per_task, streams_per_task); }
    const Array<i64>& all_registers() const { return registers; }
    const Array<Stream>& all_streams() const { return streams; }
    const Array<i32>& all_windows() const { return remembered; }
    const Array<i64>& all_seen() const { return seen; }
    const Array<i64>& all_high() const { return high; }
    i64& counter(i64 table, i64 group) { return counters[counter_starts[table] + group]; }
    View<i64> counters_of(i64 table, i64 group, i64 count) {
        return counters.part(counter_starts[table] + group, count);
    }

    AliasTable sampler(i64 number) const { return {alias.data() + samplers[number].start, samplers[number].length}; }
    i64 draw_ns(i64 distribution, Stream& stream) const {
        return distributions[distribution].draw_ns(stream, ziggurat);
    }
    const Ziggurat& exponential() const { return ziggurat; }

    // What windows remember, ring by ring, and how many pages each owner's ring has taken in.
    void remember(const Table& pages, const Table& counts) {
        for (i64 i = 0; i < pages.rows(); i++) remembered[i] = static_cast<i32>(pages.at(i, 0));
        for (i64 i = 0; i < counts.rows(); i++) seen[i] = counts.at(i, 0);
    }

    // The page that a reference means now, or NONE for an empty window; whether it is created instead of read.
    i64 find_page(View<i64> registers_now, View<Stream> stream, const Reference& reference, bool& creates) {
        const Region& region = regions[reference.region];
        const i64 group = registers_now[reference.group_register];
        const i64 first = region.base + group * region.group_pages;
        switch (reference.kind) {
            case ReferenceKind::recent: {
                const RecentPages& window = windows[reference.window];
                const i64 owner = registers_now[reference.row_register];
                const i64 filled = std::min(seen[window.seen + owner], window.length);
                if (filled == 0) return NONE;
                const i64 chosen = uniform_below(stream[reference.stream], filled);
                return remembered[window.start + owner * window.length + chosen];
            }
            case ReferenceKind::popular: {
                const i64 page = first + sampler(reference.sampler).draw(stream[reference.stream]);
                if (reference.window >= 0) {
                    const RecentPages& window = windows[reference.window];
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

private:
    struct Span {
        i64 start, length;
    };

    Ziggurat ziggurat;
    Array<AliasRow> alias;
    Array<Span> samplers;
    Array<Distribution> distributions;
    Array<i64> counter_starts;
    Array<i64> lock_starts;
    i64 locks_in_all = 0;
    Array<i64> registers;
    Array<Stream> streams;
    Array<i64> high;  // highest page that appends have reached, by `high` of the reference + group
    Array<RecentPages> windows;
    Array<i32> remembered;
    Array<i64> seen;

    static void copy(const Table& table, Array<i64>& values) {
        for (i64 i = 0; i < table.rows() * table.width(); i++) values.add(table.row(0)[i]);
    }

    void read_operations(const Table& table) {
        for (i64 i = 0; i < table.rows(); i++)
            operations.add({static_cast<Code>(table.at(i, 0)), table.at(i, 1), table.at(i, 2), table.at(i, 3),
                            table.at(i, 4), table.at(i, 5)});
    }

    void read_pages(const Tables& system) {
        const Table& areas = system["regions"];
        for (i64 i = 0; i < areas.rows(); i++)
            regions.add({areas.at(i, "base"), areas.at(i, "groups"), areas.at(i, "group_pages"),
                         areas.at(i, "rows_per_page"), areas.at(i, "interior"), areas.at(i, "fanout")});
        table_counters.resize(regions.size());
        const Table& ways = system["references"];
        for (i64 i = 0; i < ways.rows(); i++)
            references.add({static_cast<ReferenceKind>(ways.at(i, "kind")), ways.at(i, "region"), ways.at(i, "r_group"),
                            ways.at(i, "r"), ways.at(i, "table"), ways.at(i, "window"), ways.at(i, "s"),
                            ways.at(i, "high")});
        copy(system["initial_high"], high);
        const Table& rings = system["windows"];
        i64 pages = 0, owners = 0;
        for (i64 i = 0; i < rings.rows(); i++) {
            windows.add({rings.at(i, 0), rings.at(i, 1), rings.at(i, 2), rings.at(i, 3)});
            pages += rings.at(i, 1) * rings.at(i, 2);
            owners += rings.at(i, 2);
        }
        remembered = Array<i32>(pages, NONE);
        seen = Array<i64>(owners, 0);
    }
};

}  // namespace oltpsim
