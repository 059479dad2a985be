-- May this call go through? Asked when the gate does not say "closed".
--
-- ARGV 3  probes allowed at once
--      4  ms after which a probe loses its slot
-- Returns {'closed', generation, 1 if there are failures to clear else 0}
--      or {'probe', generation, token}
--      or {'refused', ms until it is worth asking again, or -1: held open until somebody resets it}

-- A probe usually ends long before its deadline, so a call that finds all slots taken need not wait for that.
local ASK_AGAIN_MS = 1000

local b = read_all()

if b.state == 'closed' then
  return { 'closed', b.generation, b.failures ~= '' and 1 or 0 }
end

local function refuse(ms)
  redis.call('HINCRBY', KEYS[1], 'short_circuited', 1)
  return { 'refused', ms }
end

if b.state == 'open' then
  if b.held ~= '' and b.held_until == '' then
    return refuse(-1)
  end
  local probe_at = tonumber(b.held ~= '' and b.held_until or b['until'])
  if now < probe_at then
    return refuse(probe_at - now)
  end
  move(b, 'half_open', b.held ~= '' and 'hold over' or 'pause over', '')
end

local probes = live_probes(b)
if #probes >= tonumber(ARGV[3]) then
  return refuse(ASK_AGAIN_MS)
end
local token = redis.call('HINCRBY', KEYS[1], 'last_token', 1)
probes[#probes + 1] = { token, now + ARGV[4] }
write_probes(b, probes)
return { 'probe', b.generation, token }
