// A device: what it does when a request comes to it, and when an event of its own is due.
#pragma once
#include "requests.hpp"

namespace oltpsim {

class DeviceStation {
public:
    virtual ~DeviceStation() = default;

    virtual void start() {}               // at time 0
    virtual void arrive(i32 number) = 0;  // the operating system hands it a request
    virtual void begin(i32) {}            // EventKind::request_begins
    virtual void wake(i32) {}             // EventKind::request
    virtual void move() {}                // EventKind::arm
    virtual void end_parts(i32) {}        // a RAID set's disks have done all parts of a request
};

}  // namespace oltpsim
