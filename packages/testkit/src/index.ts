export { testDatabase } from './database.ts';
export { testRedis } from './redis.ts';
export { requireEnv } from './require-env.ts';
export { type VirtualClock, virtualClock } from './virtual-clock.ts';
