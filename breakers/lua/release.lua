-- A probe ended without saying anything about the dependency (it was interrupted): give back its slot.
--
-- ARGV 3  generation of the call's permit
--      4  token of its probe
-- Returns 1 if the slot was its own, else 0

local b = read_all()

if b.generation ~= tonumber(ARGV[3]) or not end_probe(b, ARGV[4]) then
  return 0
end
return 1
