-- The nine tables and their population (TPC-C 5.11, clauses 1.3 and 4.3.3).

local values = require("values")

local number, letters, digits, data, format = values.number, values.letters, values.digits, values.data, string.format
local population = {}

local ROWS_PER_INSERT = 500
local FIRST_UNDELIVERED = 2101
local LOAD_TIME = "'2020-01-01 00:00:00'"

local ADDRESS = [[
   %s_street_1 varchar(20) not null, %s_street_2 varchar(20) not null, %s_city varchar(20) not null,
   %s_state char(2) not null, %s_zip char(9) not null]]

local function address(prefix)
   return (ADDRESS:gsub("%%s", prefix))
end

local function district_infos()
   local columns = {}
   for district = 1, values.DISTRICTS do
      columns[district] = format("s_dist_%02d char(24) not null", district)
   end
   return table.concat(columns, ", ")
end

-- In the order of the load; %TIME% is the type of a date with time.
local TABLES = {
   { "item", [[
   i_id integer not null, i_im_id integer not null, i_name varchar(24) not null, i_price decimal(5,2) not null,
   i_data varchar(50) not null, primary key (i_id)]] },
   { "warehouse", [[
   w_id integer not null, w_name varchar(10) not null, ]] .. address("w") .. [[,
   w_tax decimal(4,4) not null, w_ytd decimal(12,2) not null, primary key (w_id)]] },
   { "district", [[
   d_id smallint not null, d_w_id integer not null, d_name varchar(10) not null, ]] .. address("d") .. [[,
   d_tax decimal(4,4) not null, d_ytd decimal(12,2) not null, d_next_o_id integer not null,
   primary key (d_w_id, d_id)]] },
   { "stock", [[
   s_i_id integer not null, s_w_id integer not null, s_quantity smallint not null, ]] .. district_infos() .. [[,
   s_ytd decimal(8,0) not null, s_order_cnt smallint not null, s_remote_cnt smallint not null,
   s_data varchar(50) not null, primary key (s_w_id, s_i_id)]] },
   { "customer", [[
   c_id integer not null, c_d_id smallint not null, c_w_id integer not null, c_first varchar(16) not null,
   c_middle char(2) not null, c_last varchar(16) not null, ]] .. address("c") .. [[,
   c_phone char(16) not null, c_since %TIME% not null, c_credit char(2) not null,
   c_credit_lim decimal(12,2) not null, c_discount decimal(4,4) not null, c_balance decimal(12,2) not null,
   c_ytd_payment decimal(12,2) not null, c_payment_cnt smallint not null, c_delivery_cnt smallint not null,
   c_data varchar(500) not null, primary key (c_w_id, c_d_id, c_id)]] },
   { "history", [[
   h_c_id integer not null, h_c_d_id smallint not null, h_c_w_id integer not null, h_d_id smallint not null,
   h_w_id integer not null, h_date %TIME% not null, h_amount decimal(6,2) not null, h_data varchar(24) not null]] },
   { "orders", [[
   o_id integer not null, o_d_id smallint not null, o_w_id integer not null, o_c_id integer not null,
   o_entry_d %TIME% not null, o_carrier_id smallint, o_ol_cnt smallint not null, o_all_local smallint not null,
   primary key (o_w_id, o_d_id, o_id)]] },
   { "new_order", [[
   no_o_id integer not null, no_d_id smallint not null, no_w_id integer not null,
   primary key (no_w_id, no_d_id, no_o_id)]] },
   { "order_line", [[
   ol_o_id integer not null, ol_d_id smallint not null, ol_w_id integer not null, ol_number smallint not null,
   ol_i_id integer not null, ol_supply_w_id integer not null, ol_delivery_d %TIME%, ol_quantity smallint not null,
   ol_amount decimal(6,2) not null, ol_dist_info char(24) not null,
   primary key (ol_w_id, ol_d_id, ol_o_id, ol_number)]] },
}

local INDEXES = {
   "create index customer_by_name on customer (c_w_id, c_d_id, c_last, c_first)",
   "create index orders_by_customer on orders (o_w_id, o_d_id, o_c_id, o_id)",
}

local function names(separator)
   local all = {}
   for at, each in ipairs(TABLES) do
      all[at] = each[1]
   end
   return table.concat(all, separator)
end

-- Create the tables with their primary keys.
function population.create(connection, driver)
   local time = driver == "mysql" and "datetime" or "timestamp"
   local ending = driver == "mysql" and ") engine=innodb default charset=latin1" or ")"
   for _, each in ipairs(TABLES) do
      local columns = each[2]:gsub("%%TIME%%", time)
      connection:query("create table " .. each[1] .. " (" .. columns .. ending)
   end
end

function population.drop(connection)
   connection:query("drop table if exists " .. names(", "))
end

-- Create the secondary indexes; sorting the loaded rows is faster than inserting each.
function population.index(connection)
   for _, statement in ipairs(INDEXES) do
      connection:query(statement)
   end
end

function population.analyze(connection, driver)
   if driver == "mysql" then
      connection:query("analyze table " .. names(", "))
   else
      connection:query("analyze " .. names(", "))
   end
end

-- What a thread needs before it loads.
function population.begin_load(connection, driver, seed)
   values.prepare_strings(seed)
   if driver == "mysql" then
      connection:query("set unique_checks = 0, foreign_key_checks = 0")
   end
end

-- Rows of one table on their way, sent so many at a time.
local function writer(connection, name)
   local beginning, rows, count = "insert into " .. name .. " values ", {}, 0
   local written = {}

   function written.add(row)
      count = count + 1
      rows[count] = row
      if count == ROWS_PER_INSERT then
         connection:query(beginning .. table.concat(rows, ","))
         count = 0
      end
   end

   function written.finish()
      if count > 0 then
         connection:query(beginning .. table.concat(rows, ",", 1, count))
         count = 0
      end
   end

   return written
end

local function in_transaction(connection, load)
   connection:query("begin")
   load()
   connection:query("commit")
end

local function address_values()
   return format("'%s','%s','%s','%s','%s11111'", letters(10, 20), letters(10, 20), letters(10, 20), letters(2), digits(4))
end

local function fraction(highest)
   return number(0, highest) / 10000
end

function population.load_items(connection, seed)
   values.seed(seed, 0)
   in_transaction(connection, function()
      local items = writer(connection, "item")
      for item = 1, values.ITEMS do
         local price = number(100, 10000) / 100
         items.add(format("(%d,%d,'%s',%.2f,'%s')", item, number(10000), letters(14, 24), price, data()))
      end
      items.finish()
   end)
end

local function load_stock(connection, warehouse)
   local stock = writer(connection, "stock")
   for item = 1, values.ITEMS do
      stock.add(format(
         "(%d,%d,%d,'%s','%s','%s','%s','%s','%s','%s','%s','%s','%s',0,0,0,'%s')",
         item, warehouse, number(10, 100), letters(24), letters(24), letters(24), letters(24), letters(24),
         letters(24), letters(24), letters(24), letters(24), letters(24), data()
      ))
   end
   stock.finish()
end

local function load_customers(connection, warehouse, district)
   local customers, histories = writer(connection, "customer"), writer(connection, "history")
   for customer = 1, values.CUSTOMERS do
      local name = customer <= values.NAMES and customer - 1 or values.name_number(values.NAME_C_OF_LOAD)
      customers.add(format(
         "(%d,%d,%d,'%s','OE','%s',%s,'%s',%s,'%s',50000,%.4f,-10,10,1,0,'%s')",
         customer, district, warehouse, letters(8, 16), values.last_names[name], address_values(), digits(16),
         LOAD_TIME, values.chance(10) and "BC" or "GC", fraction(5000), letters(300, 500)
      ))
      histories.add(format(
         "(%d,%d,%d,%d,%d,%s,10,'%s')",
         customer, district, warehouse, district, warehouse, LOAD_TIME, letters(12, 24)
      ))
   end
   customers.finish()
   histories.finish()
end

local function load_orders(connection, warehouse, district)
   local orders, lines, waiting =
      writer(connection, "orders"), writer(connection, "order_line"), writer(connection, "new_order")
   local customers = values.permutation(values.CUSTOMERS)
   for order = 1, values.CUSTOMERS do
      local delivered, count = order < FIRST_UNDELIVERED, number(5, 15)
      orders.add(format(
         "(%d,%d,%d,%d,%s,%s,%d,1)",
         order, district, warehouse, customers[order], LOAD_TIME, delivered and number(10) or "null", count
      ))
      for line = 1, count do
         lines.add(format(
            "(%d,%d,%d,%d,%d,%d,%s,5,%.2f,'%s')",
            order, district, warehouse, line, number(values.ITEMS), warehouse, delivered and LOAD_TIME or "null",
            delivered and 0 or number(1, 999999) / 100, letters(24)
         ))
      end
      if not delivered then
         waiting.add(format("(%d,%d,%d)", order, district, warehouse))
      end
   end
   orders.finish()
   lines.finish()
   waiting.finish()
end

-- Load a warehouse; its rows are a matter of the seed and its number, whichever thread does it.
function population.load_warehouse(connection, warehouse, seed)
   values.seed(seed, warehouse)
   in_transaction(connection, function()
      connection:query(format(
         "insert into warehouse values (%d,'%s',%s,%.4f,300000)",
         warehouse, letters(6, 10), address_values(), fraction(2000)
      ))
      local districts = writer(connection, "district")
      for district = 1, values.DISTRICTS do
         districts.add(format(
            "(%d,%d,'%s',%s,%.4f,30000,%d)",
            district, warehouse, letters(6, 10), address_values(), fraction(2000), values.CUSTOMERS + 1
         ))
      end
      districts.finish()
   end)
   in_transaction(connection, function() load_stock(connection, warehouse) end)
   for district = 1, values.DISTRICTS do
      in_transaction(connection, function() load_customers(connection, warehouse, district) end)
   end
   for district = 1, values.DISTRICTS do
      in_transaction(connection, function() load_orders(connection, warehouse, district) end)
   end
end

return population
