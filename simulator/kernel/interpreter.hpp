// The interpreter: what a client does between two waits.
//
// `advance` runs a client's operations at one instant until something takes time, and returns what it is. CPU demand
// is collected on the way and is paid, as one burst, before any other wait. When that is over `advance` goes on.
#pragma once
#include "buffer_pool.hpp"
#include "locks.hpp"
#include "page_images.hpp"
#include "program.hpp"

namespace oltpsim {

enum class WaitKind : u8 {
    none,
    cpu,        // amount: burst, ns
    think,      // amount: ns
    arrival,    // of something to do
    lock,       // target: its number
    section,    // target: its number; amount: hold, ns
    commit,     // amount: bytes; target: 1 if the locks are kept
    release,    // of the locks: rollback
    end,        // target: class; amount: 1 if rolled back
    read,       // target: page, from disk into its slot
    page,       // target: page that somebody else is bringing in
    fault,      // target: slot whose memory is swapped out
    throttle,   // the page cache is full of dirty pages
    pause,      // it has many, amount: written since the last pause, 0: it has as many as it may; target: file to lock
    file,       // amount: ns, that it stays locked
    victim,     // target: dirty page whose slot is wanted, to be written first (direct I/O)
    buffer,     // every buffer is busy
    free,       // amount: ns, for a buffer of a full pool
    network,    // amount: ns
    visit,      // target: plain station; amount: service, ns
    hand_over,  // amount: bytes, of log that is flushed at once
};

// 16 bytes, which a function returns in registers.
struct Wait {
    WaitKind kind;
    i32 target;
    i64 amount;
};

class Interpreter : Context {
public:
    Program program;
    Memory memory;
    BufferPool pool;
    PageImages images;
    PageCache page_cache;
    Locks locks;
    form::CpuTimeCounters cpu_time{};

    explicit Interpreter(const Context& context)
        : Context(context),
          program(run),
          memory(system, calendar),
          pool(system, memory),
          images(system),
          page_cache(system, memory),
          locks(context, program.lock_count()) {}

    // Runs a client to its next wait.
    Wait advance(i32 who) {
        Task& task = tasks[who];
        const View<i64> reg = program.registers_of(who);
        const View<Stream> stream = program.streams_of(who);
        while (true) {
            const Operation& now = program.operations[task.operation];
            Wait wait = DONE;
            switch (now.code) {
                case Code::touch:
                case Code::put_aside:
                    wait = use_page(task, now, reg, stream);
                    break;
                case Code::lock:
                    wait = lock(who, task, static_cast<i32>(program.lock_of(now.a, reg[now.b])));
                    break;
                case Code::cpu:
                    task.user_ns += now.a;
                    task.system_ns += now.b;
                    task.client_ns += now.c;
                    break;
                case Code::work:
                    task.user_ns += program.draw_ns(now.a, stream[now.b]);
                    break;
                case Code::log:
                    if (system.log.at_once && owes_cpu(task)) return pay(task);
                    task.log_bytes += now.a;
                    if (!system.log.at_once) break;
                    task.operation++;
                    return {WaitKind::hand_over, 0, now.a};
                case Code::set:
                case Code::uniform:
                case Code::sample:
                case Code::other:
                case Code::combine:
                case Code::affine:
                case Code::take:
                case Code::peek:
                case Code::put:
                case Code::note:
                    compute(now, reg, stream);
                    break;
                case Code::maybe:
                case Code::jump:
                case Code::loop:
                case Code::claim:
                case Code::enter:
                case Code::choose:
                case Code::if_between:
                case Code::if_equal:
                    if (jumps(task, now, reg, stream)) continue;
                    break;
                case Code::visit:
                    if (owes_cpu(task)) return pay(task);
                    task.operation++;
                    return {WaitKind::visit, static_cast<i32>(now.a), program.draw_ns(now.b, stream[now.c])};
                default:
                    if (owes_cpu(task)) return pay(task);
                    return leave(task, now, reg, stream);
            }
            if (wait.kind != WaitKind::none) return wait;
            task.operation++;
        }
    }

    // A page will soon be written.
    void prefetch(i64 page) const {
        pool.prefetch(page);
        if (!system.direct_io) page_cache.prefetch(page);
    }

    // A page has been written to its device: by buffered I/O it is in the page cache, recent.
    void keep_written(i64 page) {
        if (!system.direct_io) page_cache.keep(page);
    }

private:
    static constexpr Wait DONE{WaitKind::none, 0, 0};

    static bool go_to(Task& task, i64 operation) {
        task.operation = static_cast<i32>(operation);
        return true;
    }

    static bool owes_cpu(const Task& task) { return task.user_ns + task.system_ns + task.client_ns > 0; }

    // Hands the collected CPU demand over as one burst.
    Wait pay(Task& task) {
        const i64 burst_ns = task.user_ns + task.system_ns + task.client_ns;
        cpu_time.transaction += task.user_ns;
        cpu_time.system_calls += task.system_ns;
        cpu_time.client_program += task.client_ns;
        task.user_ns = task.system_ns = task.client_ns = 0;
        return {WaitKind::cpu, 0, burst_ns};
    }

    // A reference to a page: through its index page, which it may change too, to the page itself.
    Wait use_page(Task& task, const Operation& now, View<i64> reg, View<Stream> stream) {
        const Reference& reference = program.references[now.a];
        const Region& region = program.regions[reference.region];
        if (task.page == NONE) {
            task.user_ns += now.c;
            task.page = static_cast<i32>(program.find_page(reg, stream, reference, task.creates_page));
            if (task.page == NONE) return DONE;
            pool.prefetch(task.page);  // while its index page is looked up
            if (region.interior != NONE) task.index_page = index_page(task.page, region);
        }
        if (task.index_page != NONE) {
            if (!is_hit(task, task.index_page, region.interior)) {
                const Wait wait = refer(task, task.index_page, region.interior);
                if (wait.kind != WaitKind::none) return wait;
            }
            if (now.b == form::WITH_INDEX_PAGE) change(task, task.index_page, false);
            task.index_page = NONE;
        }
        if (!is_hit(task, task.page, reference.region)) {
            if (now.code == Code::put_aside && !task.creates_page && !pool.has(task.page)) {
                pool.waiting.note(std::exchange(task.page, NONE));
                return DONE;
            }
            const Wait wait = refer(task, task.page, reference.region);
            if (wait.kind != WaitKind::none) return wait;
        }
        if (now.b) change(task, task.page, task.creates_page);
        task.page = NONE;
        task.creates_page = false;
        return DONE;
    }

    // Operations on registers and counters.
    void compute(const Operation& now, View<i64> reg, View<Stream> stream) {
        switch (now.code) {
            case Code::set:
                reg[now.a] = now.b;
                return;
            case Code::uniform:
                reg[now.a] = now.c + uniform_below(stream[now.d], now.b);
                return;
            case Code::sample:
                reg[now.a] = now.c + program.sampler(now.b).draw(stream[now.d]);
                return;
            case Code::other: {
                const i64 drawn = now.b > 1 ? uniform_below(stream[now.d], now.b - 1) : 0;
                reg[now.a] = now.b > 1 && drawn >= reg[now.c] ? drawn + 1 : drawn;
                return;
            }
            case Code::combine:
                reg[now.a] = reg[now.b] * now.c + reg[now.d];
                return;
            case Code::affine: {
                const i64 value = reg[now.b] * now.c + now.d;
                reg[now.a] = now.e > 0 ? modulo(value, now.e) : value;
                return;
            }
            case Code::take: {
                i64& counter = program.counter(now.b, reg[now.c]);
                reg[now.a] = counter;
                counter += now.d;
                return;
            }
            case Code::peek:
                reg[now.a] = std::max<i64>(0, program.counter(now.b, reg[now.c]) - now.d);
                return;
            case Code::put:
                program.counter(now.a, reg[now.b]) = reg[now.c];
                return;
            default:
                program.counter(now.a, reg[now.b]) = calendar.now_ns;  // note
        }
    }

    // Operations after which another than the next one may follow; whether it does.
    bool jumps(Task& task, const Operation& now, View<i64> reg, View<Stream> stream) {
        switch (now.code) {
            case Code::maybe:
                return chance(stream[now.b], now.a) && go_to(task, now.c);
            case Code::jump:
                return go_to(task, now.a);
            case Code::loop:
                return --reg[now.a] > 0 && go_to(task, now.b);
            case Code::claim: {
                i64& counter = program.counter(now.b, reg[now.c]);
                if (counter >= program.counter(now.d, reg[now.c])) return go_to(task, now.e);
                reg[now.a] = counter++;
                return false;
            }
            case Code::enter:
                return go_to(task, program.entries[task.transaction_class]);
            case Code::choose:
                task.transaction_class = static_cast<i32>(program.sampler(now.a).draw(stream[now.b]));
                return go_to(task, program.entries[task.transaction_class]);
            case Code::if_between: {
                const bool has_begun = program.counter(now.a, reg[now.c]) <= calendar.now_ns;
                return has_begun && calendar.now_ns < program.counter(now.b, reg[now.c]) && go_to(task, now.d);
            }
            default:  // if_equal
                return program.counter(now.a, reg[now.b]) == reg[now.c] && go_to(task, now.d);
        }
    }

    // The operations at which a client stops for good.
    Wait leave(Task& task, const Operation& now, View<i64> reg, View<Stream> stream) {
        task.operation++;
        switch (now.code) {
            case Code::think:
                return {WaitKind::think, 0, program.draw_ns(now.a, stream[now.b])};
            case Code::arrive:
                return {WaitKind::arrival, 0, 0};
            case Code::section:
                return {WaitKind::section, static_cast<i32>(now.a), now.b};
            case Code::visit_one:
                return {WaitKind::visit, static_cast<i32>(now.a + reg[now.b]), program.draw_ns(now.c, stream[now.d])};
            case Code::gate:
                return {WaitKind::visit, static_cast<i32>(now.a), until_open_ns(now, reg[now.c], stream[now.e])};
            case Code::network:
                return {WaitKind::network, 0, now.a};
            case Code::sleep_until:
                return {WaitKind::network, 0, std::max<i64>(program.counter(now.a, reg[now.b]) - calendar.now_ns, 0)};
            case Code::commit:
            case Code::flush:
                return {WaitKind::commit, now.code == Code::flush, std::exchange(task.log_bytes, 0)};
            case Code::rollback:
                task.log_bytes = 0;
                task.rolled_back = true;
                return {WaitKind::release, 0, 0};
            case Code::end: {
                task.operation = 0;
                const bool rolled_back = task.rolled_back;
                task.rolled_back = false;
                return {WaitKind::end, task.transaction_class, rolled_back};
            }
            default:
                throw std::invalid_argument("there is no operation " + std::to_string(static_cast<i64>(now.code)));
        }
    }

    // A client passes a gate, three counters of its group: passages left, closed until, passages between two closings.
    i64 until_open_ns(const Operation& gate, i64 group, Stream& stream) {
        const View<i64> counters = program.counters_of(gate.b, 3 * group, 3);
        i64 &passages_left = counters[0], &closed_until_ns = counters[1];
        if (--passages_left <= 0) {
            passages_left = counters[2];
            closed_until_ns = std::max(calendar.now_ns, closed_until_ns) + program.draw_ns(gate.d, stream);
        }
        return std::max<i64>(closed_until_ns - calendar.now_ns, 0);
    }

    Wait lock(i32 who, Task& task, i32 number) {
        const i32 owner = locks.owner(number);
        if (owner == who) return DONE;
        if (owes_cpu(task)) return pay(task);
        if (owner != NONE) return {WaitKind::lock, number, 0};
        locks.grant(who, number);
        return DONE;
    }

    // A page that has just been referred to changes.
    void change(Task& task, i32 page, bool is_new) {
        pool.change(page);
        task.log_bytes += images.added_bytes(page, is_new);
    }

    // The index page above a page.
    i32 index_page(i64 page, const Region& region) const {
        return static_cast<i32>(program.regions[region.interior].base + (page - region.base) / region.fanout);
    }

    // A reference to a page that is in the pool, and in memory; false, with nothing done, if something stands against
    // it.
    bool is_hit(Task& task, i32 page, i64 region) {
        if (!pool.has_idle(page) || task.has_fetched || pool.is_page_swapped_out(page)) return false;
        task.victim = NONE;
        pool.touch_resident(page, calendar.now_ns);
        program.table_counters[region].pool_hits++;
        return true;
    }

    // Any other reference: done, or what has to pass before it is tried again.
    Wait refer(Task& task, i32 page, i64 region) {
        TableCounters& counters = program.table_counters[region];
        if (!pool.has(page)) {
            const Wait wait = bring_in(task, page, counters);
            if (wait.kind != WaitKind::none) return wait;
        } else if (task.has_fetched && !pool.is_busy(page)) {
            task.has_fetched = false;
        } else {
            if (owes_cpu(task)) return pay(task);
            if (pool.is_busy(page)) return {WaitKind::page, page, 0};
            pool.set_busy(page, true);
            return {WaitKind::fault, pool.slot(page), 0};
        }
        counters.pool_misses++;
        return DONE;
    }

    // The slot to use next: the one that this client has waited for, if any, else replacement's choice.
    Victim choose_slot(Task& task) {
        const i32 slot = std::exchange(task.victim, NONE);
        const i32 page = slot != NONE ? pool.page_in(slot) : NONE;
        return slot != NONE && !pool.is_busy(page) ? Victim{slot, page} : pool.next_victim();
    }

    // A page was written into the page cache, which may have many dirty ones: then a pause is due, now or later.
    void note_written(Task& task, i32 page) {
        const i64 enough = page_cache.given.pages_a_pause;
        const bool is_paced = page_cache.is_paced();
        task.unpaid_pages = static_cast<u8>(is_paced ? task.unpaid_pages + 1 : 0);
        task.file = page_cache.file_of(page);
        task.is_to_pause = (is_paced && task.unpaid_pages >= enough) || (enough > 0 && page_cache.is_full_of_dirt());
    }

    // Brings a page into the pool; a wait to read leaves it in a busy slot.
    Wait bring_in(Task& task, i32 page, TableCounters& counters) {
        const bool creates = task.creates_page && page == task.page;
        bool from_disk = !creates && (system.direct_io || !page_cache.has(page));
        const bool is_full = !system.direct_io && page_cache.is_full_of_dirt();
        const bool throttled = is_full && page_cache.given.pages_a_pause == 0;
        if ((from_disk || throttled || task.is_to_pause) && owes_cpu(task)) return pay(task);
        if (throttled) return {WaitKind::throttle, 0, 0};
        if (task.is_to_pause) {
            const i64 written = std::exchange(task.unpaid_pages, u8{0});
            task.is_to_pause = is_full;
            if (is_full || written > 0) return {WaitKind::pause, task.file, is_full ? 0 : written};
        }
        if (const i64 wait_ns = pool.wait_for_free_ns(); wait_ns > 0 && !task.has_waited) {
            if (owes_cpu(task)) return pay(task);
            task.has_waited = true;
            return {WaitKind::free, 0, wait_ns};
        }
        const Victim victim = choose_slot(task);
        const auto [slot, old_page] = victim;
        if (slot == NONE) return owes_cpu(task) ? pay(task) : Wait{WaitKind::buffer, 0, 0};
        const bool swapped_out = pool.is_swapped_out(slot);
        if (swapped_out || (system.writes_victims && old_page != NONE && pool.is_dirty(old_page))) {
            if (pool.replacement == Replacement::clock)
                task.victim = slot;  // the hand has moved on; lists find it again
            if (owes_cpu(task)) return pay(task);
            pool.set_busy(old_page, true);
            return swapped_out ? Wait{WaitKind::fault, slot, 0} : Wait{WaitKind::victim, old_page, 0};
        }
        if (!system.direct_io && old_page != NONE && pool.is_dirty(old_page)) {
            if (const i64 wait_ns = page_cache.locked_ns(old_page, calendar.now_ns); wait_ns > 0) {
                if (owes_cpu(task)) return pay(task);
                return {WaitKind::file, 0, wait_ns};
            }
        }
        if (pool.empty(victim, page_cache, calendar.now_ns)) {
            task.system_ns += system.costs.write_ns;
            note_written(task, old_page);
            // the page cache may have made room for the victim by dropping the very page that is wanted
            from_disk = from_disk || (!creates && !page_cache.has(page));
        }
        task.user_ns += system.costs.miss_ns;
        pool.insert_resident(page, slot, creates, calendar.now_ns);
        task.has_waited = false;
        if (creates) {
            pool.waiting.take(page);  // of what was there before
            counters.created++;
            return DONE;
        }
        task.system_ns += system.costs.read_ns;
        if (from_disk) {
            task.system_ns += system.costs.request_ns;
            pool.set_busy(page, true);
            task.has_fetched = true;
            counters.disk_reads++;
            return {WaitKind::read, page, 0};
        }
        counters.page_cache_hits++;
        page_cache.touch(page);
        pool.merge_waiting(page);
        return DONE;
    }
};

}  // namespace oltpsim
