// Traffic below the buffer pool per transaction of the mix, and the demands of each class on the stations.
#pragma once
#include "page_cache.hpp"

namespace oltpsim {

struct Traffic {
    double reads = 0;          // from disk
    double merged = 0;         // pages that merges read from there besides
    double dirty_victims = 0;  // pages that whoever needs their buffer writes first
    double written = 0;        // pages that reach the disks
    double requests = 0;       // writes that they make
    double background = 0;     // pages that writer and checkpoint write
    double bursts = 0;         // share of what enters the page cache that the writer hands over many at a time
    double batches = 0;        // share that a checkpoint does, a batch at a time
    double checkpointed = 0;   // share of `requests` that checkpoints make
    double heap = 0;           // pages that the page cache hands to the disks together
    double sorted = 1;         // pages in whose order on disk they come, a geometric mean
    Numbers burst_of;          // scratch

    void solve(const Workload& w, const Machine& m, PageWrites& writes, double from_disk, double merged_pages) {
        reads = from_disk, merged = merged_pages;
        dirty_victims = writes.victims * m.write_factor;
        written = (writes.aged * writes.reach + writes.checkpoint) * m.write_factor;
        background = (writes.aged + writes.checkpoint - writes.victims) * m.write_factor;
        const double enter = std::max(reads + writes.aged + writes.checkpoint, LEAST);
        bursts = (writes.aged - writes.victims) / enter, batches = writes.checkpoint / enter;
        double aged = writes.aged * writes.reach, checkpoint = writes.checkpoint;
        double order_of_aged = writes.burst, order_of_checkpoint = std::max(writes.heap_pages, 1.0);
        if (m.direct <= 0) {
            const double together = writes.burst / std::max(writes.aged, LEAST);
            burst_of.resize(writes.aged_of.size());
            for (std::size_t g = 0; g < burst_of.size(); g++) burst_of[g] = writes.aged_of[g] * together;
            const PageWrites::Heap burst = writes.merged(w, m, burst_of), heap = writes.merged(w, m, writes.heap);
            aged *= std::min(burst.requests / writes.burst, 1.0), checkpoint = heap.requests / writes.cycle;
            order_of_aged = burst.as_even, order_of_checkpoint = heap.as_even;
        }
        const double all = std::max(aged + checkpoint, LEAST);
        requests = m.direct > 0 ? written : all * m.write_factor;
        checkpointed = checkpoint / all;
        heap = (aged * writes.aged_heap + checkpoint * writes.checkpoint_heap) / all;
        sorted = exp_of((aged * log_of(order_of_aged) + checkpoint * log_of(order_of_checkpoint)) / all);
    }
};

// What one transaction of each class needs, whatever the queues; CPU times as if no other thread were busy.
struct Demands {
    Numbers cpu_s;                        // critical sections left out
    Numbers section_s;                    // inside them
    Numbers bursts;                       // visits to the CPU's queue: critical sections are entered from its front
    Numbers slices;                       // of `bursts` those that are the second or a later time slice of one
    Numbers reads, victims, faults;       // `victims`: synchronous writes of dirty victims (direct I/O)
    Numbers paging_before, cpu_before_s;  // by lock: reads, victims and faults, and CPU time, until it is asked for
    double background_cpu_s = 0;          // per transaction of the mix

    // Means over the mix.
    double cpu_mean = 0, section_mean = 0, bursts_mean = 0, reads_mean = 0, victims_mean = 0, faults_mean = 0;
    double victim_writes_mean = 0;  // those of `victims_mean`, and of the copies of pages that are written twice
    double visits_mean = 0;         // to the CPU, critical sections counted
    double burst_left_s = 0;        // what is left of a burst when somebody arrives
    double burst_variation = 0;     // squared coefficient of variation
    double section_left_s = 0;      // what is left of a stay in a critical section when somebody arrives
    double section_variation = 0;

    // Squared variation of the bursts of one class: the first one of a transaction is the longest (assumption).
    static constexpr double BURST_VARIATION = 0.3;

    void solve(const Workload& w, const Machine& m, const BufferPool& pool, const Traffic& t, const Numbers& reads_of) {
        const std::size_t classes = at(w.classes);
        for (Numbers* by_class : {&cpu_s, &section_s, &bursts, &slices, &reads, &victims, &faults})
            by_class->resize(classes);
        paging_before.resize(at(w.locks)), cpu_before_s.resize(at(w.locks));
        const bool direct = m.direct > 0;
        const double per_brought = std::min(t.dirty_victims / std::max(pool.brought_mean, TINY), 1.0);
        for (std::size_t v = 0; v < at(w.views); v++) {
            const double misses = pool.misses_of[v], brought = pool.brought_of[v], read = reads_of[v];
            const double evicted = brought * per_brought;
            const double paging = (misses * m.read_cpu_s + brought * m.miss_cpu_s + read * m.request_cpu_s +
                                   (direct ? 0.0 : evicted * m.write_cpu_s)) /
                                  m.cpu_speed;
            const double sync = direct ? evicted : 0.0;
            if (v < classes) {
                cpu_s[v] = m.path_s[v] / m.cpu_speed + paging, section_s[v] = m.section_s[v] / m.cpu_speed;
                reads[v] = read, victims[v] = sync, faults[v] = pool.faults_of[v];
                double stations = 0.0;
                for (i64 k = 0; k < w.stations; k++) stations += w.visits[v * at(w.stations) + at(k)];
                bursts[v] = 1.0 + read + sync + stations;
            } else {
                paging_before[v - classes] = read + sync + pool.faults_of[v];
                cpu_before_s[v - classes] = m.path_before_s[v - classes] / m.cpu_speed + paging;
            }
        }
        // whoever asks for a row's lock uses up first what it owes the processor
        for (const LockUse& use : w.lock_uses) bursts[at(use.transaction_class)] += use.acquisitions;
        for (std::size_t c = 0; c < classes; c++) {
            slices[c] = bursts[c] * later_slices(cpu_s[c] / bursts[c] / m.slice_s);
            bursts[c] += slices[c];
        }
        const double handed_on = m.synced > 0 ? t.background : direct ? 0.0 : t.written;
        background_cpu_s = (t.background * m.write_cpu_s + handed_on * m.request_cpu_s +
                            t.merged * (m.read_cpu_s + m.request_cpu_s + m.miss_cpu_s)) /
                           m.cpu_speed;
        means(w);
        victim_writes_mean = victims_mean * m.victim_writes();
    }

private:
    // Time slices of a burst beyond the first, by its mean length in slices. Bursts of one length have one less than
    // the next whole number, exponential ones 1 / (exp(1 / length) - 1): this is between the two, with both limits.
    static double later_slices(double length) { return length > 0.0 ? std::sqrt(1.0 + length * length) - 1.0 : 0.0; }

    void means(const Workload& w) {
        cpu_mean = w.mean(cpu_s.data()), section_mean = w.mean(section_s.data()), bursts_mean = w.mean(bursts.data());
        reads_mean = w.mean(reads.data()), victims_mean = w.mean(victims.data()), faults_mean = w.mean(faults.data());
        double square = 0.0, uneven = 0.0, sections = 0.0;
        for (std::size_t c = 0; c < at(w.classes); c++) {
            const double burst = cpu_s[c] + section_s[c], visits = bursts[c] + w.entries[c];
            square += w.mix[c] * burst * burst / visits, uneven += w.mix[c] * cpu_s[c] * cpu_s[c] / visits;
            sections += w.mix[c] * section_s[c] * section_s[c];
        }
        const double both = cpu_mean + section_mean, entered = std::max(w.entries_mean, TINY);
        visits_mean = bursts_mean + w.entries_mean;
        burst_left_s =
            std::min(square / std::max(2.0 * both, TINY) * (1.0 + BURST_VARIATION), 2.0 * both / visits_mean);
        burst_variation =
            clip(uneven * visits_mean / std::max(cpu_mean * cpu_mean, TINY) - 1.0 + BURST_VARIATION, 0.0, 3.0);
        section_left_s = sections / std::max(2.0 * section_mean, TINY);
        section_variation = clip(sections * entered / std::max(section_mean * section_mean, TINY) - 1.0, 0.0, 1.0);
    }
};

}  // namespace oltpsim
