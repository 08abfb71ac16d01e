export { testDatabase } from './database.ts';
export { testRedis } from './redis.ts';
export { requireEnv } from './require-env.ts';
