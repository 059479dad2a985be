-- The breakers that left closed last, for a page: as one JSON text, like read.lua.
--
-- KEYS 1  index of the breakers that are not closed
--      2  index of all breakers
-- ARGV 1  how many
-- Returns JSON: [name, when it left closed, name, when, …], how many are not closed, how many there are

local found = redis.call('ZREVRANGE', KEYS[1], 0, ARGV[1] - 1, 'WITHSCORES')
return cjson.encode({ found, redis.call('ZCARD', KEYS[1]), redis.call('ZCARD', KEYS[2]) })
