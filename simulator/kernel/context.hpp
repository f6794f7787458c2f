// What parts are given: the run as Python hands it over, the calendar, the tasks; and each other.
#pragma once
#include "calendar.hpp"
#include "records.hpp"
#include "task.hpp"

namespace oltpsim {

class Arrivals;
class Daemons;
class Devices;
class Interpreter;
class IoWait;
class Log;
class Stations;
class Terminals;
class WriteBack;

struct Context {
    const form::SeededRun& run;
    const form::System& system;
    Calendar& calendar;
    Tasks& tasks;
};

// Of a whole kernel. A part takes them all, and uses those whose headers it includes.
struct Parts : Context {
    Devices& devices;
    Stations& stations;
    IoWait& io_wait;
    Interpreter& interpreter;
    Log& log;
    WriteBack& write_back;
    Daemons& daemons;
    Arrivals& arrivals;
    Terminals& terminals;
};

}  // namespace oltpsim
