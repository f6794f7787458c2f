-- The five transactions by their profiles (TPC-C 5.11, clauses 2.4.2 to 2.8.2), a statement a round trip.
--
-- Isolation is the server's default, READ COMMITTED of PostgreSQL and REPEATABLE READ of InnoDB: a row that is read to
-- be changed by what was read is read FOR UPDATE, and what a transaction must read anew it has changed before.

local values = require("values")

local format = string.format
local SUPPLIES_FROM, SUPPLIES_ADDED = 10, 91
local RECENT_ORDERS = 20
local CUSTOMER_DATA = 500

local PLACES = { n = "%d", t = "'%s'" }
local TYPES = { n = "integer", t = "text" }

local function of_kinds(kinds, words)
   local all = {}
   for at = 1, #kinds do
      all[at] = words[kinds:sub(at, at)]
   end
   return table.concat(all, ", ")
end

-- Statement that PostgreSQL has prepared: called with its values, it returns the result. `kinds`: n (number) or t (text,
-- without quotes in it) for each value. It is prepared by SQL: statements that sysbench 1.0.20 prepares return binary
-- values, and cut texts off behind 255 bytes.
local function prepared(connection, name, text, kinds)
   local at = 0
   local numbered = text:gsub("%?", function()
      at = at + 1
      return "$" .. at
   end)
   connection:query(format("prepare %s (%s) as %s", name, of_kinds(kinds, TYPES), numbered))
   local call = format("execute %s (%s)", name, of_kinds(kinds, PLACES))
   return function(...)
      return connection:query(format(call, ...))
   end
end

-- The same as text for MySQL, of whose prepared statements sysbench 1.0.20 returns no rows.
local function written_out(connection, _, text, kinds)
   local at = 0
   local call = text:gsub("%?", function()
      at = at + 1
      return PLACES[kinds:sub(at, at)]
   end)
   return function(...)
      return connection:query(format(call, ...))
   end
end

-- First row of a result as strings; nil if it has none.
local function first(result)
   if result == nil or result.nrows == 0 then
      return nil
   end
   return unpack(result:fetch_row(), 1, result.nfields)
end

local transactions = {}

-- The transactions on a connection: functions by class that take what was entered; new_order says whether it committed.
function transactions.on(connection, driver)
   local statement = driver == "mysql" and written_out or prepared

   local count = 0

   local function with(text, kinds)
      count = count + 1
      return statement(connection, "tpcc" .. count, text, kinds)
   end

   local function begin()
      connection:query("BEGIN")
   end

   local function commit()
      connection:query("COMMIT")
   end

   local warehouse_tax = with("select w_tax from warehouse where w_id = ?", "n")
   local next_order = with("select d_tax, d_next_o_id from district where d_w_id = ? and d_id = ? for update", "nn")
   local take_order = with("update district set d_next_o_id = d_next_o_id + 1 where d_w_id = ? and d_id = ?", "nn")
   local customer_terms = with([[
      select c_discount, c_last, c_credit from customer where c_w_id = ? and c_d_id = ? and c_id = ?]], "nnn")
   local insert_order = with([[
      insert into orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
      values (?, ?, ?, ?, current_timestamp, ?, ?)]], "nnnnnn")
   local insert_new_order = with("insert into new_order (no_o_id, no_d_id, no_w_id) values (?, ?, ?)", "nnn")
   local read_item = with("select i_price, i_name, i_data from item where i_id = ?", "n")
   local read_stock = {}
   for district = 1, values.DISTRICTS do
      local text = "select s_quantity, s_data, s_dist_%02d from stock where s_w_id = ? and s_i_id = ? for update"
      read_stock[district] = with(format(text, district), "nn")
   end
   local change_stock = with([[
      update stock set s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1,
      s_remote_cnt = s_remote_cnt + ? where s_w_id = ? and s_i_id = ?]], "nnnnn")
   local insert_line = with([[
      insert into order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,
      ol_dist_info) values (?, ?, ?, ?, ?, ?, ?, cast(? as decimal(6,2)), ?)]], "nnnnnnntt")

   local function new_order(input)
      local home, district = input.warehouse, input.district
      begin()
      first(warehouse_tax(home))
      local _, order = first(next_order(home, district))
      order = tonumber(order)
      take_order(home, district)
      first(customer_terms(home, district, input.customer))
      insert_order(order, district, home, input.customer, input.lines, input.all_local)
      insert_new_order(order, district, home)
      for line = 1, input.lines do
         local item, supplier, quantity = input.items[line], input.suppliers[line], input.quantities[line]
         local price = first(read_item(item))
         if price == nil then
            connection:query("ROLLBACK")
            return false
         end
         local held, _, info = first(read_stock[district](supplier, item))
         local left = tonumber(held) - quantity
         if left < SUPPLIES_FROM then
            left = left + SUPPLIES_ADDED
         end
         change_stock(left, quantity, supplier == home and 0 or 1, supplier, item)
         insert_line(order, district, home, line, item, supplier, quantity, format("%.2f", quantity * price), info)
      end
      commit()
      return true
   end

   local pay_warehouse = with("update warehouse set w_ytd = w_ytd + cast(? as decimal(12,2)) where w_id = ?", "tn")
   local read_warehouse = with([[
      select w_name, w_street_1, w_street_2, w_city, w_state, w_zip from warehouse where w_id = ?]], "n")
   local pay_district = with([[
      update district set d_ytd = d_ytd + cast(? as decimal(12,2)) where d_w_id = ? and d_id = ?]], "tnn")
   local read_district = with([[
      select d_name, d_street_1, d_street_2, d_city, d_state, d_zip from district where d_w_id = ? and d_id = ?]], "nn")
   local namesakes = with([[
      select c_id from customer where c_w_id = ? and c_d_id = ? and c_last = ? order by c_first]], "nnt")
   local paying_customer = with([[
      select c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since,
      c_credit_lim, c_discount, c_balance from customer where c_w_id = ? and c_d_id = ? and c_id = ? for update]], "nnn")
   local customer_data = with("select c_data from customer where c_w_id = ? and c_d_id = ? and c_id = ?", "nnn")
   local pay = [[
      update customer set c_balance = c_balance - cast(? as decimal(12,2)),
      c_ytd_payment = c_ytd_payment + cast(? as decimal(12,2)), c_payment_cnt = c_payment_cnt + 1%s
      where c_w_id = ? and c_d_id = ? and c_id = ?]]
   local pay_customer = with(format(pay, ""), "ttnnn")
   local pay_customer_with_data = with(format(pay, ", c_data = ?"), "tttnnn")
   local insert_history = with([[
      insert into history (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data)
      values (?, ?, ?, ?, ?, current_timestamp, cast(? as decimal(6,2)), ?)]], "nnnnntt")

   -- Row ceil(n / 2) of those of a last name in order of first names.
   local function customer_by_name(warehouse, district, last_name)
      local result = namesakes(warehouse, district, last_name)
      local customer
      for _ = 1, math.ceil(result.nrows / 2) do
         customer = result:fetch_row()[1]
      end
      return tonumber(customer)
   end

   local function payment(input)
      local home, district = input.warehouse, input.district
      local from, from_district = input.customer_warehouse, input.customer_district
      local amount = format("%d.%02d", math.floor(input.cents / 100), input.cents % 100)
      begin()
      pay_warehouse(amount, home)
      local warehouse_name = first(read_warehouse(home))
      pay_district(amount, home, district)
      local district_name = first(read_district(home, district))
      local customer = input.customer or customer_by_name(from, from_district, input.last_name)
      local credit = first(paying_customer(from, from_district, customer))
      if credit == "BC" then
         local data = first(customer_data(from, from_district, customer))
         local noted = format("%d %d %d %d %d %s ", customer, from_district, from, district, home, amount)
         data = (noted .. data):sub(1, CUSTOMER_DATA)
         pay_customer_with_data(amount, amount, data, from, from_district, customer)
      else
         pay_customer(amount, amount, from, from_district, customer)
      end
      insert_history(from_district, from, customer, district, home, amount, warehouse_name .. "    " .. district_name)
      commit()
      return true
   end

   local read_customer = with([[
      select c_balance, c_first, c_middle, c_last from customer where c_w_id = ? and c_d_id = ? and c_id = ?]], "nnn")
   local last_order = with([[
      select o_id, o_entry_d, o_carrier_id from orders where o_w_id = ? and o_d_id = ? and o_c_id = ?
      order by o_id desc limit 1]], "nnn")
   local order_lines = with([[
      select ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d from order_line
      where ol_w_id = ? and ol_d_id = ? and ol_o_id = ?]], "nnn")

   local function order_status(input)
      local home, district = input.warehouse, input.district
      begin()
      local customer = input.customer or customer_by_name(home, district, input.last_name)
      first(read_customer(home, district, customer))
      local order = first(last_order(home, district, customer))
      order_lines(home, district, tonumber(order))
      commit()
      return true
   end

   local oldest_text = "select no_o_id from new_order where no_w_id = ? and no_d_id = ? order by no_o_id limit 1"
   local oldest = with(oldest_text, "nn")
   local take_oldest = with(oldest_text .. " for update", "nn")
   local delete_oldest = with("delete from new_order where no_w_id = ? and no_d_id = ? and no_o_id = ?", "nnn")
   local set_carrier = with("update orders set o_carrier_id = ? where o_w_id = ? and o_d_id = ? and o_id = ?", "nnnn")
   local ordering_customer = with("select o_c_id from orders where o_w_id = ? and o_d_id = ? and o_id = ?", "nnn")
   local deliver_lines = with([[
      update order_line set ol_delivery_d = current_timestamp where ol_w_id = ? and ol_d_id = ? and ol_o_id = ?]], "nnn")
   local order_amount = with([[
      select sum(ol_amount) from order_line where ol_w_id = ? and ol_d_id = ? and ol_o_id = ?]], "nnn")
   local bill_customer = with([[
      update customer set c_balance = c_balance + cast(? as decimal(12,2)), c_delivery_cnt = c_delivery_cnt + 1
      where c_w_id = ? and c_d_id = ? and c_id = ?]], "tnnn")

   -- Number of a district's oldest undelivered order, locked; nil if there is none. Who waited for the row that another
   -- delivery then deleted gets nothing from PostgreSQL, and asks again.
   local function oldest_locked(home, district)
      local order
      repeat
         order = first(take_oldest(home, district))
      until order ~= nil or first(oldest(home, district)) == nil
      return tonumber(order)
   end

   local function delivery(input)
      local home = input.warehouse
      begin()
      for district = 1, values.DISTRICTS do
         local order = oldest_locked(home, district)
         if order ~= nil then
            delete_oldest(home, district, order)
            set_carrier(input.carrier, home, district, order)
            local customer = tonumber((first(ordering_customer(home, district, order))))
            deliver_lines(home, district, order)
            local amount = first(order_amount(home, district, order))
            bill_customer(amount, home, district, customer)
         end
      end
      commit()
      return true
   end

   local order_number = with("select d_next_o_id from district where d_w_id = ? and d_id = ?", "nn")
   local scarce_items = with([[
      select count(distinct s_i_id) from order_line, stock where ol_w_id = ? and ol_d_id = ? and ol_o_id < ?
      and ol_o_id >= ? and s_w_id = ? and s_i_id = ol_i_id and s_quantity < ?]], "nnnnnn")

   local function stock_level(input)
      local home, district = input.warehouse, input.district
      begin()
      local behind = tonumber((first(order_number(home, district))))
      first(scarce_items(home, district, behind, behind - RECENT_ORDERS, home, input.threshold))
      commit()
      return true
   end

   return {
      new_order = new_order,
      payment = payment,
      order_status = order_status,
      delivery = delivery,
      stock_level = stock_level,
   }
end

return transactions
