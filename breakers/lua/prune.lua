-- Take forgotten breakers out of both indexes; their hashes have expired by themselves.
--
-- ARGV 1  unused
-- Returns how many were forgotten

local forgotten = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now - KEEP_MS)
for _, one in ipairs(forgotten) do
  redis.call('ZREM', KEYS[2], one)
  redis.call('ZREM', KEYS[3], one)
end
return #forgotten
