// The closed network on ns-3's simulator core: every service and every thought is one scheduled call.
// Reads what Network.as_words says; of its routes the first.
#include <ns3/core-module.h>

#include <cstdio>
#include <ctime>
#include <deque>
#include <iostream>
#include <random>
#include <vector>

using namespace ns3;

struct Client {
    size_t visit = 0;
};

struct Station {
    int64_t free = 0;
    std::deque<std::pair<size_t, int64_t>> queue;
};

struct Visit {
    size_t station;
    double mean;
};

static std::vector<Client> clients;
static std::vector<Station> stations;
static std::vector<Visit> route;
static std::mt19937_64 generator;
static double thinkMean;
static int64_t warmUp, transactions = 0, services = 0;

static int64_t Draw(double mean) { return (int64_t)(std::exponential_distribution<double>(1.0 / mean)(generator)); }

static void Served(size_t who);

static void Enter(size_t who) {
    Station& station = stations[route[clients[who].visit].station];
    int64_t burst = Draw(route[clients[who].visit].mean);
    if (station.free > 0) {
        --station.free;
        Simulator::Schedule(NanoSeconds(burst), &Served, who);
    } else {
        station.queue.emplace_back(who, burst);
    }
}

static void Thought(size_t who) {
    clients[who].visit = 0;
    Enter(who);
}

static void Served(size_t who) {
    Station& station = stations[route[clients[who].visit].station];
    ++services;
    if (station.queue.empty()) {
        ++station.free;
    } else {
        auto [next, burst] = station.queue.front();
        station.queue.pop_front();
        Simulator::Schedule(NanoSeconds(burst), &Served, next);
    }
    if (++clients[who].visit < route.size()) {
        Enter(who);
        return;
    }
    transactions += Simulator::Now().GetNanoSeconds() >= warmUp;
    Simulator::Schedule(NanoSeconds(Draw(thinkMean)), &Thought, who);
}

template <typename T>
static T Read() {
    T value{};
    std::cin >> value;
    return value;
}

int main() {
    generator.seed(Read<uint64_t>());
    warmUp = Read<int64_t>();
    int64_t end = Read<int64_t>();
    clients.resize(Read<size_t>());
    thinkMean = Read<double>();
    stations.resize(Read<size_t>());
    for (Station& station : stations) station.free = Read<int64_t>();
    Read<int>();  // routes
    route.resize(Read<size_t>());
    for (Visit& visit : route) {
        visit.station = Read<size_t>();
        visit.mean = Read<double>();
    }
    const std::clock_t begin = std::clock();
    for (size_t who = 0; who < clients.size(); ++who) Simulator::Schedule(NanoSeconds(Draw(thinkMean)), &Thought, who);
    Simulator::Stop(NanoSeconds(end));
    Simulator::Run();
    double seconds = (double)(std::clock() - begin) / CLOCKS_PER_SEC;
    Simulator::Destroy();
    std::printf("{\"seconds\": %.9f, \"transactions\": %lld, \"services\": %lld}\n", seconds, (long long)transactions,
                (long long)services);
}
