-- Say that the breaker is in use, with which policy and by whom; makes it if there is none.
--
-- ARGV 3  the policy as JSON
--      4  who depends on it, '' if nobody says
-- Returns the gate

local b = read_all()

redis.call('HSET', KEYS[1], 'gate', gate(b), 'policy', ARGV[3])
if ARGV[4] ~= '' then
  redis.call('HSET', KEYS[1], 'user:' .. ARGV[4], now)
end
keep(b)
return gate(b)
