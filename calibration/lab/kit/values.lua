-- Random values of TPC-C 5.11, clauses 2.1.6 and 4.3.2: numbers, NURand, last names, strings.
--
-- They come from LuaJIT's own generator, of which each Lua state has one: sysbench 1.0.20 seeds its generators in the
-- order in which its threads happen to start.

local bit = require("bit")

local random, bor = math.random, bit.bor
local values = {}

values.ITEMS = 100000
values.DISTRICTS = 10
values.CUSTOMERS = 3000 -- of a district; as many orders are loaded
values.NAMES = 1000

local ITEM_A, CUSTOMER_A, NAME_A = 8191, 1023, 255
values.ITEM_C, values.CUSTOMER_C = 5432, 321
-- Clause 2.1.6.1: the two may differ by 65 to 119, but not by 96 or 112.
values.NAME_C_OF_LOAD, values.NAME_C_OF_RUN = 157, 223

local SYLLABLES = { "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING" }
local LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
local POOL_LENGTH = 65536
local DISCARDED = 100 -- draws, after which seeds that lie close together have nothing in common
local STREAMS = 65536

local letters, digits

local function pool(alphabet)
   local drawn = {}
   for at = 1, POOL_LENGTH do
      local chosen = random(#alphabet)
      drawn[at] = alphabet:sub(chosen, chosen)
   end
   return table.concat(drawn)
end

-- Begin the sequence of one thread or of one warehouse's load; a seed of 0 is the time, as sysbench has it.
function values.seed(seed, stream)
   math.randomseed((seed == 0 and os.time() or seed) * STREAMS + stream)
   for _ = 1, DISCARDED do
      random()
   end
end

-- A whole number from `low` to `high`, even.
values.number = random

-- True in so many of 100 cases.
function values.chance(percent)
   return random(100) <= percent
end

-- Exponential with a mean, at most ten times it (clause 5.2.5.4).
function values.exponential(mean)
   return math.min(-math.log(1 - random()) * mean, 10 * mean)
end

-- NURand(a, low, high) with its constant c.
local function nurand(a, c, low, high)
   return (bor(random(0, a), random(low, high)) + c) % (high - low + 1) + low
end

function values.item()
   return nurand(ITEM_A, values.ITEM_C, 1, values.ITEMS)
end

function values.customer()
   return nurand(CUSTOMER_A, values.CUSTOMER_C, 1, values.CUSTOMERS)
end

-- Number of a last name, 0 to 999; `c`: the constant of the load or of the run.
function values.name_number(c)
   return nurand(NAME_A, c, 0, values.NAMES - 1)
end

-- Last name of a number, 0 to 999: a syllable for each digit.
local last_names = {}
for number = 0, values.NAMES - 1 do
   local hundreds, tens = math.floor(number / 100), math.floor(number / 10) % 10
   last_names[number] = SYLLABLES[hundreds + 1] .. SYLLABLES[tens + 1] .. SYLLABLES[number % 10 + 1]
end
values.last_names = last_names

-- Draw the letters and digits that strings are pieces of, before the sequences that draw the pieces; once in a thread.
-- A draw for each letter would be half of the load's time.
function values.prepare_strings(seed)
   if letters == nil then
      values.seed(seed, STREAMS - 1)
      letters, digits = pool(LETTERS), pool("0123456789")
   end
end

function values.letters(shortest, longest)
   local length = random(shortest, longest or shortest)
   local first = random(POOL_LENGTH - length + 1)
   return letters:sub(first, first + length - 1)
end

function values.digits(length)
   local first = random(POOL_LENGTH - length + 1)
   return digits:sub(first, first + length - 1)
end

-- Data of an item or of its stock: one in ten has ORIGINAL in it, anywhere.
function values.data()
   local text = values.letters(26, 50)
   if not values.chance(10) then
      return text
   end
   local before = random(0, #text - 8)
   return text:sub(1, before) .. "ORIGINAL" .. text:sub(before + 9)
end

-- The numbers 1 to `count` in random order.
function values.permutation(count)
   local order = {}
   for at = 1, count do
      order[at] = at
   end
   for at = count, 2, -1 do
      local other = random(at)
      order[at], order[other] = order[other], order[at]
   end
   return order
end

return values
