-- Counts and response times by class, from all threads, and their reports.
--
-- Each thread of sysbench has a Lua state of its own. What they share is memory of the process: a directory of the
-- threads' records, whose address the first state, which is there before any thread, leaves in an environment variable.
-- A thread writes to its own record only.

local ffi = require("ffi")
local inputs = require("inputs")

-- Response times fall into steps of 1 % from 1 us on; the last one begins at 3 hours.
local STEPS, STEP = 2300, 1.01
local PER_STEP = 1 / math.log(STEP)
local MOST_THREADS = 4096
local CLASSES = #inputs.CLASSES
local ADDRESS = "OLTPSIM_TPCC_KIT"
local MONOTONIC, REALTIME = 1, 0
local SHARES = { 50, 90, 95, 99 }
local COLUMNS = { "committed", "rolled back", "retries", "mean ms", "p50 ms", "p90 ms", "p95 ms", "p99 ms", "max ms" }

ffi.cdef(string.format(
   [[
   typedef struct { long s; long ns; } tpcc_time;
   typedef struct {
      double committed, rolled_back, retries;
      double total_s, longest_s;
      uint32_t steps[%d];
   } tpcc_class;
   typedef struct {
      double ended_s;                            // of its last transaction
      double transactions, new_orders, retries;  // since its start, the warm-up with it
      tpcc_class classes[%d];                    // over the counted time
   } tpcc_thread;
   typedef struct {
      double started_s;  // of the first thread; 0 before
      int stages[%d];    // of a command in several threads: how far each is
      tpcc_thread *threads[%d];
   } tpcc_shared;
   void *calloc(size_t count, size_t size);
   int setenv(const char *name, const char *value, int overwrite);
   int getpid(void);
   int usleep(unsigned int us);
   int clock_gettime(int clock, tpcc_time *time);
]], STEPS, CLASSES, MOST_THREADS, MOST_THREADS))

local responses = {}

local function found_or_made()
   local process, address = (os.getenv(ADDRESS) or ""):match("^(%d+):(%x+)$")
   if tonumber(process) == ffi.C.getpid() then
      return ffi.cast("tpcc_shared *", ffi.cast("uintptr_t", tonumber(address, 16)))
   end
   local made = ffi.C.calloc(1, ffi.sizeof("tpcc_shared"))
   local text = string.format("%d:%x", ffi.C.getpid(), tonumber(ffi.cast("uintptr_t", made)))
   ffi.C.setenv(ADDRESS, text, 1)
   return ffi.cast("tpcc_shared *", made)
end

local shared = found_or_made()
responses.stages = shared.stages
responses.MOST_THREADS = MOST_THREADS

local time = ffi.new("tpcc_time")

local function clock_s(which)
   ffi.C.clock_gettime(which, time)
   return tonumber(time.s) + tonumber(time.ns) * 1e-9
end

-- Monotonic time, s.
function responses.now_s()
   return clock_s(MONOTONIC)
end

function responses.sleep_s(seconds)
   while seconds > 0 do
      local piece = math.min(seconds, 1000)
      ffi.C.usleep(math.floor(piece * 1e6))
      seconds = seconds - piece
   end
end

local recorder = {}
recorder.__index = recorder

-- What a thread records with. `warm_up_s` of the run are not counted; `time_s`: its limit, 0 without one.
function responses.recorder(thread, warm_up_s, time_s)
   local record = ffi.cast("tpcc_thread *", ffi.C.calloc(1, ffi.sizeof("tpcc_thread")))
   shared.threads[thread] = record
   return setmetatable({ record = record, warm_up_s = warm_up_s, time_s = time_s }, recorder)
end

-- Begin the run, at the thread's first transaction.
function recorder:start()
   if shared.started_s == 0 then
      shared.started_s = responses.now_s()
   end
   self.counted_from_s = shared.started_s + self.warm_up_s
   self.ends_s = self.time_s > 0 and shared.started_s + self.time_s or math.huge
end

-- A transaction that began and ended then. Counted is what ends in the counted time.
function recorder:add(class, began_s, ended_s, committed, retries)
   local record = self.record
   record.ended_s = ended_s
   record.transactions = record.transactions + 1
   record.retries = record.retries + retries
   if class == 1 and committed then
      record.new_orders = record.new_orders + 1
   end
   if ended_s < self.counted_from_s or ended_s > self.ends_s then
      return
   end
   local counts = record.classes[class - 1]
   counts.retries = counts.retries + retries
   if not committed then
      counts.rolled_back = counts.rolled_back + 1
      return
   end
   local took_s = ended_s - began_s
   counts.committed = counts.committed + 1
   counts.total_s = counts.total_s + took_s
   if took_s > counts.longest_s then
      counts.longest_s = took_s
   end
   local step = math.floor(math.log(math.max(took_s * 1e6, 1)) * PER_STEP)
   step = math.min(step, STEPS - 1)
   counts.steps[step] = counts.steps[step] + 1
end

local function each_thread()
   local at = -1
   return function()
      repeat
         at = at + 1
      until at >= MOST_THREADS or shared.threads[at] ~= nil
      if at < MOST_THREADS then
         return shared.threads[at]
      end
   end
end

local function merged(into, counts)
   into.committed = into.committed + counts.committed
   into.rolled_back = into.rolled_back + counts.rolled_back
   into.retries = into.retries + counts.retries
   into.total_s = into.total_s + counts.total_s
   into.longest_s = math.max(into.longest_s, counts.longest_s)
   for step = 0, STEPS - 1 do
      into.steps[step] = into.steps[step] + counts.steps[step]
   end
end

-- Response in ms that so many percent don't exceed: the middle of its step, but at most the longest.
local function percentile_ms(counts, percent)
   local needed, reached = counts.committed * percent / 100, 0
   for step = 0, STEPS - 1 do
      reached = reached + counts.steps[step]
      if reached >= needed and reached > 0 then
         return math.min(STEP ^ (step + 0.5) / 1e3, counts.longest_s * 1e3)
      end
   end
   return 0
end

local function row(name, counts)
   local cells = { string.format("%-14s", name) }
   for _, count in ipairs({ counts.committed, counts.rolled_back, counts.retries }) do
      cells[#cells + 1] = string.format("%12.0f", count)
   end
   cells[#cells + 1] = string.format("%12.3f", counts.committed > 0 and counts.total_s / counts.committed * 1e3 or 0)
   for _, percent in ipairs(SHARES) do
      cells[#cells + 1] = string.format("%12.3f", percentile_ms(counts, percent))
   end
   cells[#cells + 1] = string.format("%12.3f", counts.longest_s * 1e3)
   return table.concat(cells)
end

-- Rates since the report before, of all transactions, the warm-up's with them. `interval_s`: since then.
local before = { transactions = 0, new_orders = 0, retries = 0 }
function responses.report_interval(since_start_s, interval_s)
   local sums = { transactions = 0, new_orders = 0, retries = 0 }
   for record in each_thread() do
      for name, value in pairs(sums) do
         sums[name] = value + record[name]
      end
   end
   print(string.format(
      "[ %.0fs ] tpcc tps: %.2f new orders: %.0f new orders/min: %.1f retries/s: %.2f",
      since_start_s,
      (sums.transactions - before.transactions) / interval_s,
      sums.new_orders - before.new_orders,
      (sums.new_orders - before.new_orders) / interval_s * 60,
      (sums.retries - before.retries) / interval_s
   ))
   before = sums
end

-- The table of the classes, over the counted time only.
function responses.report(warm_up_s, time_s)
   local of_class, all = {}, ffi.new("tpcc_class")
   local ended_s = 0
   for class = 1, CLASSES do
      of_class[class] = ffi.new("tpcc_class")
   end
   for record in each_thread() do
      ended_s = math.max(ended_s, record.ended_s)
      for class = 1, CLASSES do
         merged(of_class[class], record.classes[class - 1])
      end
   end
   if time_s > 0 then
      ended_s = math.min(ended_s, shared.started_s + time_s)
   end
   local counted_s = ended_s - shared.started_s - warm_up_s
   if shared.started_s == 0 or counted_s <= 0 then
      print("\nTPC-C kit: the run ended before the warm-up: nothing was counted")
      return
   end
   local to_date = clock_s(REALTIME) - clock_s(MONOTONIC)
   print(string.format(
      "\nTPC-C kit: counted %.3f s after a warm-up of %.3f s, from %.3f to %.3f s since 1970",
      counted_s, warm_up_s, ended_s - counted_s + to_date, ended_s + to_date
   ))
   local header = { string.format("%-14s", "class") }
   for _, name in ipairs(COLUMNS) do
      header[#header + 1] = string.format("%12s", name)
   end
   print(table.concat(header))
   for class = 1, CLASSES do
      print(row(inputs.CLASSES[class], of_class[class]))
      merged(all, of_class[class])
   end
   print(row("all", all))
   local per_minute = of_class[1].committed / counted_s * 60
   print(string.format("NOPM: %.1f (new orders committed per minute of the counted time)", per_minute))
end

-- The run has reached its end while the thread waited.
function recorder:reached_end()
   self.record.ended_s = self.ends_s
end

return responses
