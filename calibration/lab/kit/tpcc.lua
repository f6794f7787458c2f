-- TPC-C kit for sysbench 1.0.20, on PostgreSQL (--db-driver=pgsql) and MariaDB or MySQL (--db-driver=mysql).
--
--   sysbench tpcc.lua --db-driver=pgsql --warehouses=10 --threads=2 prepare
--   sysbench tpcc.lua --db-driver=pgsql --warehouses=10 --threads=16 --time=70 --warm-up-time=10 --rand-seed=1 run
--   sysbench tpcc.lua --db-driver=pgsql cleanup
--   sysbench tpcc.lua --warehouses=10 --threads=2 --events=1000 --rand-seed=1 draws    (connects to nothing)
--
-- An event of sysbench is one transaction. Its response time is from BEGIN to the answer of COMMIT, retries with it,
-- without think time and without the queue of --rate. Deviations from TPC-C 5.11: no RTE, no priced configuration, no
-- foreign keys; classes by weights of 45, 43, 4, 4, 4; deliveries are answered when they are done.

local here = debug.getinfo(1, "S").source:match("^@(.*/)") or "./"
package.path = here .. "?.lua;" .. package.path

local ffi = require("ffi")
local inputs = require("inputs")
local population = require("population")
local responses = require("responses")
local transactions = require("transactions")
local values = require("values")

local RETRIED_STATES = { ["40001"] = true, ["40P01"] = true } -- PostgreSQL: serialization failure, deadlock
local RETRIED_NUMBERS = { [1213] = true, [1205] = true, [1020] = true } -- MySQL: deadlock, lock wait, changed row
local CREATED, LOADED = 1, 2 -- stages of a thread that loads
local POLL_S = 0.05

sysbench.cmdline.options = {
   warehouses = { "Warehouses loaded and used", 1 },
   home = { "fixed: each thread has a home warehouse and district; any: drawn for each transaction", "any" },
   ["think-time"] = { "no; specification: with keying times; or the mean in s of exponential ones", "no" },
   ["warm-up-time"] = { "Seconds of --time that the classes' table does not count", 0 },
}

local function refuse(option, got, expected)
   error(string.format("tpcc: --%s: got %s; expected %s", option, tostring(got), expected), 0)
end

local function without_place(problem)
   return (tostring(problem):gsub("^[^:]+%.lua:%d+: ", ""))
end

local function options()
   local given = sysbench.opt
   local chosen = { warehouses = given.warehouses, home = given.home, think_time = given.think_time }
   chosen.warm_up_s, chosen.time_s, chosen.seed = given.warm_up_time, tonumber(given.time), tonumber(given.rand_seed)
   if chosen.warehouses < 1 or chosen.warehouses % 1 ~= 0 then
      refuse("warehouses", chosen.warehouses, "a whole number from 1 on")
   end
   if chosen.home ~= "any" and chosen.home ~= "fixed" then
      refuse("home", chosen.home, "fixed or any")
   end
   if chosen.think_time ~= "no" and chosen.think_time ~= "specification" then
      chosen.think_time = tonumber(chosen.think_time)
      if not (chosen.think_time and chosen.think_time > 0) then
         refuse("think-time", given.think_time, "no, specification or a mean in seconds above 0")
      end
   end
   if given.threads > responses.MOST_THREADS then
      refuse("threads", given.threads, "at most " .. responses.MOST_THREADS)
   end
   if chosen.warm_up_s < 0 or chosen.time_s > 0 and chosen.warm_up_s >= chosen.time_s then
      refuse("warm-up-time", chosen.warm_up_s, string.format("less than --time, which is %g s", chosen.time_s))
   end
   return chosen
end

local function connected()
   local driver = sysbench.sql.driver()
   return driver, driver:connect()
end

-- Loading: each thread takes every so many-th warehouse; thread 0 makes the tables before and the indexes after.

local function each_other_thread(threads)
   local at = 0
   return function()
      at = at + 1
      return at < threads and at or nil
   end
end

local function wait_for(thread, stage)
   while responses.stages[thread] < stage do
      responses.sleep_s(POLL_S)
   end
end

local function load_part(thread, threads, chosen)
   local driver, connection = connected()
   local name, stages = driver:name(), responses.stages
   if thread == 0 then
      print(string.format("TPC-C kit: creating and loading %d warehouses in %d threads", chosen.warehouses, threads))
      population.create(connection, name)
      stages[0] = CREATED
   end
   wait_for(0, CREATED)
   population.begin_load(connection, name, chosen.seed)
   if thread == threads - 1 then
      population.load_items(connection, chosen.seed)
   end
   for warehouse = thread + 1, chosen.warehouses, threads do
      population.load_warehouse(connection, warehouse, chosen.seed)
   end
   stages[thread] = LOADED
   if thread == 0 then
      for other in each_other_thread(threads) do
         wait_for(other, LOADED)
      end
      population.index(connection)
      population.analyze(connection, name)
      print("TPC-C kit: loaded")
   end
end

-- A thread that fails ends all of them: sysbench 1.0.20 would return 0, and the others would wait for it.
local function prepare()
   local done, reason = pcall(load_part, sysbench.tid, sysbench.opt.threads, options())
   if not done then
      io.stderr:write("tpcc: prepare failed: ", without_place(reason), "\n")
      io.stdout:flush()
      os.exit(1)
   end
end

local function cleanup()
   local _, connection = connected()
   population.drop(connection)
   print("TPC-C kit: dropped its tables")
end

local function text_of(input)
   local names, words = {}, {}
   for name in pairs(input) do
      names[#names + 1] = name
   end
   table.sort(names)
   for at, name in ipairs(names) do
      local value = input[name]
      words[at] = name .. "=" .. (type(value) == "table" and table.concat(value, ",") or tostring(value))
   end
   return table.concat(words, " ")
end

-- Print the first --events transactions that each thread would run: thread, class, pause in s, what is entered.
local function draws()
   local chosen = options()
   for thread = 0, sysbench.opt.threads - 1 do
      values.seed(chosen.seed, thread)
      local terminal = inputs.terminal(thread, chosen.warehouses, chosen.home, chosen.think_time)
      for _ = 1, tonumber(sysbench.opt.events) do
         local class, pause_s, input = terminal:next()
         print(string.format("%d %s pause_s=%.6f %s", thread, inputs.CLASSES[class], pause_s, text_of(input)))
      end
   end
end

sysbench.cmdline.commands = {
   prepare = { prepare, sysbench.cmdline.PARALLEL_COMMAND },
   cleanup = { cleanup },
   draws = { draws },
}

-- The run. Workers call thread_init, event again and again, thread_done; the first state calls init and done.

local chosen, connection, run, terminal, recorder

function init()
   chosen = options()
   print(string.format(
      "TPC-C kit of oltpsim: %d warehouses, %d threads, home %s, think time %s, warm-up %g s, seed %d",
      chosen.warehouses, sysbench.opt.threads, chosen.home, tostring(chosen.think_time), chosen.warm_up_s, chosen.seed
   ))
end

function thread_init(thread)
   local driver
   chosen = options()
   driver, connection = connected()
   local prepared
   prepared, run = pcall(transactions.on, connection, driver:name())
   if not prepared then
      error("tpcc: the tables aren't those of the kit; run its prepare first: " .. without_place(run), 0)
   end
   values.seed(chosen.seed, thread)
   terminal = inputs.terminal(thread, chosen.warehouses, chosen.home, chosen.think_time)
   recorder = responses.recorder(thread, chosen.warm_up_s, chosen.time_s)
end

-- What is to be tried again sysbench throws as a table.
function sysbench.hooks.sql_error_ignorable(problem)
   return RETRIED_STATES[problem.sql_state] or RETRIED_NUMBERS[problem.sql_errno] or false
end

-- Whether a transaction that failed so is tried again; if not, the sentence that ends the run.
local function tried_again(problem, class)
   if type(problem) ~= "table" then
      return false, string.format("tpcc: %s failed: %s", class, without_place(problem))
   end
   if RETRIED_STATES[problem.sql_state] or RETRIED_NUMBERS[problem.sql_errno] then
      return true
   end
   local words = "tpcc: %s failed: SQL error, errno = %s, state = '%s': %s"
   return false, string.format(words, class, problem.sql_errno, problem.sql_state, problem.sql_errmsg)
end

function event(thread)
   if recorder.counted_from_s == nil then
      recorder:start()
   end
   local class, pause_s, input = terminal:next()
   if pause_s > 0 then
      local left_s = recorder.ends_s - responses.now_s()
      responses.sleep_s(math.min(pause_s, left_s))
      if pause_s >= left_s then
         recorder:reached_end()
         return true -- sysbench counts no event
      end
      ffi.C.sb_event_start(thread) -- its latency is without the pause, too
   end
   local transaction, retries = run[inputs.CLASSES[class]], 0
   local began_s = responses.now_s()
   local done, outcome = pcall(transaction, input)
   while not done do
      local again, reason = tried_again(outcome, inputs.CLASSES[class])
      if not again then
         connection:disconnect() -- other threads wait for what it has locked
         error(reason, 0)
      end
      connection:query("ROLLBACK")
      retries = retries + 1
      done, outcome = pcall(transaction, input)
   end
   recorder:add(class, began_s, responses.now_s(), outcome, retries)
end

function thread_done()
   connection:disconnect()
end

function done()
   responses.report(chosen.warm_up_s, chosen.time_s)
end

function sysbench.hooks.report_intermediate(stat)
   sysbench.report_default(stat)
   responses.report_interval(stat.time_total, stat.time_interval)
end
