-- A call succeeded, and that matters: it was a probe, or there were consecutive failures to clear.
--
-- ARGV 3  generation of the call's permit
--      4  token of its probe, '0' if it was none
--      5  successes needed to close
-- Returns 1 if it counted, 0 if it came too late to matter

local b = read()

-- The same generation is the same state: that which gave the permit, so never open.
if b.generation ~= tonumber(ARGV[3]) then
  return 0
end

if b.state == 'closed' then
  b.failures = ''
  redis.call('HSET', KEYS[1], 'failures', '', 'gate', gate(b))
  return 1
end

b = read_all()
if not end_probe(b, ARGV[4]) then
  return 0
end
b.successes = b.successes + 1
if b.successes >= tonumber(ARGV[5]) then
  move(b, 'closed', 'probes succeeded', '')
else
  redis.call('HSET', KEYS[1], 'successes', b.successes)
end
return 1
