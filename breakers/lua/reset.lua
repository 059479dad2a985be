-- Close the breaker and forget its failures.
--
-- ARGV 3  number of the trip to end, or '' to close it whatever holds it
--      4  ms: if the trip never came here, what is open by itself since before is closed too; '' for any time
-- Returns 1 if anything changed, else 0

local b = read_all()

if ARGV[3] ~= '' and b.held ~= ARGV[3] then
  local since = tonumber(b.left_closed_at) or tonumber(string.match(b.failures, '%d+$'))
  -- Another trip holds it, or it failed only after somebody wanted it closed.
  if b.held ~= '' or (since and ARGV[4] ~= '' and since > tonumber(ARGV[4])) then
    return 0
  end
end
if b.state == 'closed' and b.failures == '' then
  return 0
end
move(b, 'closed', 'reset', '')
return 1
