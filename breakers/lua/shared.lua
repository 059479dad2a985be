-- The front part of every script. Scripts cannot import, so this text is put before theirs.
--
-- KEYS 1  the breaker's hash
--      2  index of the breakers that are not closed, scored by when they left closed
--      3  index of all breakers, scored by when they were last heard of
--      4  stream of transitions
-- ARGV 1  the breaker's name
--      2  now in ms, or '' for the server's clock
--
-- The hash's `gate` is "<word> <generation>": closed, failing (closed, with failures to clear), half_open or open. It is
-- all that a call on a closed breaker reads.

-- A breaker that nobody has used for this long is forgotten, unless it is held open.
local KEEP_MS = 7 * 24 * 3600 * 1000
-- Beat copies the stream to Postgres every few seconds; this is room for a long absence.
local MOST_TRANSITIONS = 10000

local name = ARGV[1]
local now = tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

-- The state, the generation and the failures; a breaker that has no gate yet is closed, in generation 0.
local function read()
  local values = redis.call('HMGET', KEYS[1], 'gate', 'failures')
  local b = { is_known = values[1], state = 'closed', generation = 0, failures = values[2] or '' }
  if values[1] then
    local word, generation = string.match(values[1], '(%S+) (%d+)')
    b.state = word == 'failing' and 'closed' or word
    b.generation = tonumber(generation)
  end
  return b
end

local REST = { 'left_closed_at', 'until', 'successes', 'probes', 'held', 'held_until' }

-- The breaker with what matters only when it is not closed, or about to be.
local function read_all()
  local b = read()
  local values = redis.call('HMGET', KEYS[1], unpack(REST))
  for i, field in ipairs(REST) do
    b[field] = values[i] or ''
  end
  return b
end

local function gate(b)
  local word = b.state
  if word == 'closed' and b.failures ~= '' then
    word = 'failing'
  end
  return word .. ' ' .. b.generation
end

-- Note that the breaker was heard of; one that is held open without an end never expires and is never pruned.
local function keep(b)
  if b.held ~= '' and b.held_until == '' then
    redis.call('PERSIST', KEYS[1])
    redis.call('ZADD', KEYS[3], '+inf', name)
  else
    local last = math.max(now, tonumber(b.held_until) or 0)
    redis.call('PEXPIRE', KEYS[1], last - now + KEEP_MS)
    redis.call('ZADD', KEYS[3], last, name)
  end
end

-- Change the state: a new generation, in which no result of an older one counts.
local function move(b, to, cause, error)
  local from = b.state
  b.generation = math.max(b.generation + 1, now)
  b.state, b.failures, b.successes, b.probes = to, '', 0, ''
  if to == 'closed' then
    b.left_closed_at = ''
    redis.call('ZREM', KEYS[2], name)
  elseif from == 'closed' then
    b.left_closed_at = now
    redis.call('HSET', KEYS[1], 'short_circuited', 0)
  end
  if to ~= 'open' then
    b['until'], b.held, b.held_until = '', '', ''
  end
  if to ~= 'closed' then
    redis.call('ZADD', KEYS[2], b.left_closed_at, name)
  end
  local write = { 'gate', gate(b), 'failures', '' }
  for _, field in ipairs(REST) do
    write[#write + 1] = field
    write[#write + 1] = b[field]
  end
  redis.call('HSET', KEYS[1], unpack(write))
  keep(b)
  redis.call('XADD', KEYS[4], 'MAXLEN', '~', MOST_TRANSITIONS, '*', 'name', name, 'from', from, 'to', to,
    'cause', cause, 'error', error, 'at', now)
end

-- The probes still under way, as {token, deadline} pairs; one past its deadline has lost its slot.
local function live_probes(b)
  local probes = {}
  for token, deadline in string.gmatch(b.probes, '(%d+):(%d+)') do
    if tonumber(deadline) > now then
      probes[#probes + 1] = { token, deadline }
    end
  end
  return probes
end

local function write_probes(b, probes)
  local texts = {}
  for _, probe in ipairs(probes) do
    texts[#texts + 1] = probe[1] .. ':' .. probe[2]
  end
  b.probes = table.concat(texts, ',')
  redis.call('HSET', KEYS[1], 'probes', b.probes)
end

-- Give back a probe's slot; false if the token is not, or no longer, that of a probe under way.
local function end_probe(b, token)
  local others, was_live = {}, false
  for _, probe in ipairs(live_probes(b)) do
    if probe[1] == token then
      was_live = true
    else
      others[#others + 1] = probe
    end
  end
  write_probes(b, others)
  return was_live
end
