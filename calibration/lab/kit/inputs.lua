-- Inputs of the five transactions as terminals enter them (TPC-C 5.11, clauses 2.4.1 to 2.8.1 and 5.2.5).
--
-- All draws of a transaction are made before its first statement, so that neither a retry nor what the database holds
-- moves the draws behind it.

local values = require("values")

local number, chance = values.number, values.chance
local inputs = {}

inputs.CLASSES = { "new_order", "payment", "order_status", "delivery", "stock_level" }
-- Weights: each transaction's class is drawn independently of the others; there is no deck of cards.
local WEIGHTS = { 45, 43, 4, 4, 4 }
local KEYING_S = { 18, 3, 2, 2, 2 }
local THINKING_S = { 12, 12, 10, 5, 5 } -- means
local UNUSED_ITEM = values.ITEMS + 1
local REMOTE_PAYMENTS, REMOTE_LINES, ROLLBACKS, BY_NAME = 15, 1, 1, 60

local terminal = {}
terminal.__index = terminal

-- A terminal. `home`: "fixed" (a warehouse, and a district for stock levels, by the thread's number) or "any" (both
-- drawn for each transaction). `think_time`: "no", "specification" or the mean in seconds.
function inputs.terminal(thread, warehouses, home, think_time)
   local made = { warehouses = warehouses, think_time = think_time, previous = 1 }
   if home == "fixed" then
      made.warehouse = thread % warehouses + 1
      made.district = math.floor(thread / warehouses) % values.DISTRICTS + 1
   end
   return setmetatable(made, terminal)
end

local function another(warehouses, than)
   local drawn = number(warehouses - 1)
   return drawn < than and drawn or drawn + 1
end

local function class_drawn()
   local at, left = 1, number(100)
   while left > WEIGHTS[at] do
      left = left - WEIGHTS[at]
      at = at + 1
   end
   return at
end

local function customer_drawn(input)
   if chance(BY_NAME) then
      input.last_name = values.last_names[values.name_number(values.NAME_C_OF_RUN)]
   else
      input.customer = values.customer()
   end
end

local draw = {}

function draw.new_order(input, warehouses)
   local home = input.warehouse
   input.district = number(values.DISTRICTS)
   input.customer = values.customer()
   input.items, input.suppliers, input.quantities = {}, {}, {}
   input.lines = number(5, 15)
   input.rolled_back = chance(ROLLBACKS)
   input.all_local = 1
   for line = 1, input.lines do
      input.items[line] = values.item()
      input.suppliers[line] = home
      if chance(REMOTE_LINES) and warehouses > 1 then
         input.suppliers[line] = another(warehouses, home)
         input.all_local = 0
      end
      input.quantities[line] = number(10)
   end
   if input.rolled_back then
      input.items[input.lines] = UNUSED_ITEM
   end
end

function draw.payment(input, warehouses)
   input.district = number(values.DISTRICTS)
   input.customer_warehouse, input.customer_district = input.warehouse, input.district
   if chance(REMOTE_PAYMENTS) and warehouses > 1 then
      input.customer_warehouse = another(warehouses, input.warehouse)
      input.customer_district = number(values.DISTRICTS)
   end
   customer_drawn(input)
   input.cents = number(100, 500000)
end

function draw.order_status(input)
   input.district = number(values.DISTRICTS)
   customer_drawn(input)
end

function draw.delivery(input)
   input.carrier = number(10)
end

function draw.stock_level(input, _, district)
   input.district = district or number(values.DISTRICTS)
   input.threshold = number(10, 20)
end

-- The terminal's next transaction: its class's number, the pause before it in s, and what was entered.
function terminal:next()
   local class = class_drawn()
   local pause_s = 0
   if self.think_time == "specification" then
      pause_s = values.exponential(THINKING_S[self.previous]) + KEYING_S[class]
   elseif self.think_time ~= "no" then
      pause_s = values.exponential(self.think_time)
   end
   self.previous = class
   local input = { warehouse = self.warehouse or number(self.warehouses) }
   draw[inputs.CLASSES[class]](input, self.warehouses, self.district)
   return class, pause_s, input
end

return inputs
