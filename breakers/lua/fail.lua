-- A call failed: count it, and open if that was one too many.
--
-- ARGV 3  generation of the call's permit
--      4  token of its probe, '0' if it was none
--      5  failure threshold
--      6  window in ms, 0 to count consecutive failures
--      7  ms to stay open
--      8  the error, for people
-- Returns 1 if it counted, 0 if it came too late to matter

local b = read()

-- The same generation is the same state: that which gave the permit, so never open.
if b.generation ~= tonumber(ARGV[3]) then
  return 0
end

local cause
if b.state == 'half_open' then
  b = read_all()
  if not end_probe(b, ARGV[4]) then
    return 0
  end
  cause = 'probe failed'
else
  local window = tonumber(ARGV[6])
  local failures = {}
  for at in string.gmatch(b.failures, '%d+') do
    if window == 0 or tonumber(at) > now - window then
      failures[#failures + 1] = at
    end
  end
  failures[#failures + 1] = now
  if #failures >= tonumber(ARGV[5]) then
    b = read_all()
    cause = 'too many failures'
  else
    b.failures = table.concat(failures, ',')
  end
end

redis.call('HSET', KEYS[1], 'failures', b.failures, 'gate', gate(b), 'last_error', ARGV[8], 'last_error_at', now)
if cause then
  b['until'] = now + ARGV[7]
  move(b, 'open', cause, ARGV[8])
elseif not b.is_known then
  -- A breaker in use has announced itself within the hour; this one was flushed since.
  keep(read_all())
end
return 1
