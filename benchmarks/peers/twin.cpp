// The limit: the same closed network, written by hand for speed. A heap of four children a node, queues through the
// clients, times in whole nanoseconds, one stream of random numbers. Reads what Network.as_words says.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <vector>

struct Event {
    int64_t time;
    uint64_t key;  // order of scheduling, then the client
    unsigned __int128 rank() const { return (unsigned __int128)(uint64_t)time << 64 | key; }
    bool before(const Event& other) const { return rank() < other.rank(); }
};

struct Client {
    int32_t next, visit;
    int64_t began, burst;
};

struct Station {
    int32_t free, first, last;
    int64_t served, busy, number, busy_area, number_area, changed;
};

struct Visit {
    int32_t station;
    int64_t mean;
};

constexpr int CLIENT_BITS = 24;
constexpr int32_t NOBODY = -1;

static std::vector<Event> heap;
static std::vector<Client> clients;
static std::vector<Station> stations;
static std::vector<Visit> visits;
static uint64_t state, order = 0;
static int64_t now = 0, events = 0;

static uint64_t bits() {
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static int64_t exponential(int64_t mean) { return (int64_t)(-std::log(((bits() >> 11) + 1) * 0x1p-53) * mean); }

static void schedule(int64_t delay, int32_t client) {
    Event event{now + delay, ++order << CLIENT_BITS | (uint64_t)client};
    size_t place = heap.size();
    heap.push_back(event);
    while (place > 0) {
        size_t parent = (place - 1) >> 2;
        if (!event.before(heap[parent])) break;
        heap[place] = heap[parent];
        place = parent;
    }
    heap[place] = event;
}

static int32_t next_client() {
    Event top = heap[0], last = heap.back();
    heap.pop_back();
    size_t count = heap.size(), place = 0;
    while (count) {
        size_t least = place * 4 + 1;
        if (least >= count) break;
        if (least + 4 <= count) {  // two and two, so that the processor need not guess
            size_t left = least + heap[least + 1].before(heap[least]);
            size_t right = least + 2 + heap[least + 3].before(heap[least + 2]);
            least = heap[right].before(heap[left]) ? right : left;
        } else {
            for (size_t other = least + 1; other < count; ++other)
                if (heap[other].before(heap[least])) least = other;
        }
        if (!heap[least].before(last)) break;
        heap[place] = heap[least];
        place = least;
    }
    if (count) heap[place] = last;
    now = top.time;
    return (int32_t)(top.key & ((1 << CLIENT_BITS) - 1));
}

static void note(Station& station, int busy, int number) {
    station.busy_area += station.busy * (now - station.changed);
    station.number_area += station.number * (now - station.changed);
    station.changed = now;
    station.busy += busy;
    station.number += number;
}

static void enter(int32_t who) {
    Client& client = clients[who];
    const Visit& visit = visits[client.visit];
    Station& station = stations[visit.station];
    int64_t burst = exponential(visit.mean);
    if (station.free > 0) {
        --station.free;
        note(station, 1, 1);
        schedule(burst, who);
        return;
    }
    note(station, 0, 1);
    client.burst = burst;
    client.next = NOBODY;
    if (station.first == NOBODY)
        station.first = who;
    else
        clients[station.last].next = who;
    station.last = who;
}

static void leave(Station& station) {
    ++station.served;
    int32_t who = station.first;
    if (who == NOBODY) {
        ++station.free;
        note(station, -1, -1);
        return;
    }
    note(station, 0, -1);
    station.first = clients[who].next;
    schedule(clients[who].burst, who);
}

static int64_t number() {
    long long value = 0;
    if (std::scanf("%lld", &value) != 1) return 0;
    return value;
}

int main() {
    state = (uint64_t)number() * 0xD1342543DE82EF95u;
    int64_t warm_up = number(), end = number();
    clients.resize((size_t)number(), Client{NOBODY, NOBODY, 0, 0});
    int64_t think = number();
    stations.resize((size_t)number());
    for (Station& station : stations) station = Station{(int32_t)number(), NOBODY, NOBODY, 0, 0, 0, 0, 0, 0};
    uint64_t routes = (uint64_t)number();
    int32_t length = (int32_t)number();
    visits.resize(routes * (size_t)length);
    for (Visit& visit : visits) {
        visit.station = (int32_t)number();
        visit.mean = number();
    }
    heap.reserve(clients.size() + 1);

    int64_t transactions = 0, response = 0;
    auto begin = std::clock(), warm = begin;
    for (size_t who = 0; who < clients.size(); ++who) schedule(exponential(think), (int32_t)who);
    bool counting = false;
    while (heap[0].time < end) {
        if (!counting && heap[0].time >= warm_up) {
            counting = true;
            warm = std::clock();
            events = 0;
        }
        int32_t who = next_client();
        ++events;
        Client& client = clients[who];
        if (client.visit == NOBODY) {
            client.began = now;
            client.visit = (int32_t)(((bits() >> 32) * routes) >> 32) * length;
            enter(who);
            continue;
        }
        leave(stations[visits[client.visit].station]);
        if (++client.visit % length != 0) {
            enter(who);
            continue;
        }
        client.visit = NOBODY;
        if (counting) {
            ++transactions;
            response += now - client.began;
        }
        schedule(exponential(think), who);
    }
    auto stop = std::clock();
    auto seconds = [](std::clock_t time) { return (double)time / CLOCKS_PER_SEC; };
    int64_t served = 0;
    for (const Station& station : stations) served += station.served;
    std::printf(
        "{\"seconds\": %.9f, \"seconds_after_warm_up\": %.9f, \"transactions\": %lld, \"services\": %lld, "
        "\"events_after_warm_up\": %lld, \"mean_response_s\": %.9g}\n",
        seconds(stop - begin), seconds(stop - warm), (long long)transactions, (long long)served, (long long)events,
        (double)response / 1e9 / (double)(transactions ? transactions : 1));
}
