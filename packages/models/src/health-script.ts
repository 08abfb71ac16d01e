// One round trip between a worker and the shared health of its models: sends new observations, returns every breaker
// that changed. It runs inside Redis, so workers' counts add up and none overwrites another's. A model's entry is a
// JSON text in one hash: {at, calls, fails, bins, v, level, until}, with times in Redis' milliseconds. `v` is the time
// when its breaker changed, or one more than before, so that it keeps growing after Redis was emptied.

export const HEALTH_SCRIPT = `
local input = cjson.decode(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local breakers = {}
for _, id in ipairs(input.models) do
  local stored = redis.call('HGET', KEYS[1], id)
  local sound, entry = pcall(cjson.decode, stored or '')
  if not sound or type(entry) ~= 'table' or type(entry.at) ~= 'number' or type(entry.bins) ~= 'table' then
    entry = { at = now, calls = 0, fails = 0, bins = {}, v = 0, level = 0, ['until'] = 0 }
  end
  local update = input.updates[id]
  if update then
    local fade = 0.5 ^ (math.max(0, now - entry.at) / input.half_life_ms)
    entry.at = now
    entry.calls = entry.calls * fade + update.calls
    entry.fails = entry.fails * fade + update.fails
    for i, n in ipairs(update.bins) do
      entry.bins[i] = math.floor(((entry.bins[i] or 0) * fade + n) * 1000 + 0.5) / 1000
    end
    if update.breaker then
      entry.v = math.max(entry.v + 1, now)
      entry.level = update.breaker.level
      entry['until'] = now + update.breaker.rest_ms
    end
    redis.call('HSET', KEYS[1], id, cjson.encode(entry))
  end
  if entry.v > 0 then
    breakers[#breakers + 1] = { id, entry.v, entry.level, math.max(0, entry['until'] - now) }
  end
end
redis.call('PEXPIRE', KEYS[1], 8 * input.half_life_ms)
return cjson.encode(breakers)
`;

export function healthKey(prefix: string): string {
  return `${prefix}:models:health`;
}

export function probeKey(prefix: string, modelId: string): string {
  return `${prefix}:models:probe:${modelId}`;
}
