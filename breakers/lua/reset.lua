-- Close the breaker and forget its failures.
--
-- ARGV 3  number of the trip to end, or '' to close it whatever holds it
-- Returns 1 if anything changed, else 0

local b = read_all()

if ARGV[3] ~= '' and b.held ~= ARGV[3] then
  return 0
end
if b.state == 'closed' and b.failures == '' then
  return 0
end
move(b, 'closed', 'reset', '')
return 1
