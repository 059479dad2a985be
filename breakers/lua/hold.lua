-- Hold the breaker open until somebody resets it, or until a time.
--
-- ARGV 3  number of the trip, so that the same trip pushed again changes nothing
--      4  ms at which the hold ends, or '' if it does not
-- Returns 1 if the state changed, 0 if this trip holds it already or is over

local b = read_all()

if b.held == ARGV[3] or (ARGV[4] ~= '' and tonumber(ARGV[4]) <= now) then
  return 0
end
b.held, b.held_until = ARGV[3], ARGV[4]
move(b, 'open', 'tripped', '')
return 1
