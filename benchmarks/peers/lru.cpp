// LRU by hand: the list runs through the slots of an array, a page is an index. Reads a file of 32-bit page numbers;
// stdin holds its path, the number of pages there are, and the number that the cache holds.
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

struct Node {
    int32_t previous, next, page;
};

constexpr int32_t NONE = -1;

int main() {
    std::string path;
    size_t pages = 0, capacity = 0;
    std::cin >> path >> pages >> capacity;
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    std::vector<int32_t> stream((size_t)file.tellg() / sizeof(int32_t));
    file.seekg(0);
    file.read((char*)stream.data(), (std::streamsize)(stream.size() * sizeof(int32_t)));

    std::vector<int32_t> where(pages, NONE);
    std::vector<Node> nodes(capacity + 1);
    const int32_t head = (int32_t)capacity;  // before the first and after the last
    nodes[capacity] = Node{head, head, NONE};
    size_t hits = 0, used = 0;
    const std::clock_t begin = std::clock();
    for (int32_t page : stream) {
        int32_t slot = where[(size_t)page];
        if (slot != NONE) {
            ++hits;
            if (nodes[capacity].next == slot) continue;
        } else if (used < capacity) {
            slot = (int32_t)used++;
            nodes[(size_t)slot] = Node{slot, slot, page};
            where[(size_t)page] = slot;
        } else {
            slot = nodes[capacity].previous;
            where[(size_t)nodes[(size_t)slot].page] = NONE;
            nodes[(size_t)slot].page = page;
            where[(size_t)page] = slot;
        }
        Node& node = nodes[(size_t)slot];
        nodes[(size_t)node.previous].next = node.next;
        nodes[(size_t)node.next].previous = node.previous;
        node.previous = head;
        node.next = nodes[capacity].next;
        nodes[(size_t)node.next].previous = slot;
        nodes[capacity].next = slot;
    }
    double seconds = (double)(std::clock() - begin) / CLOCKS_PER_SEC;
    std::printf("{\"seconds\": %.9f, \"hits\": %zu}\n", seconds, hits);
}
