import type { Cluster, Redis } from 'ioredis';

/** One Redis or a cluster: only what both have. */
export type RedisClient = Pick<Redis, keyof Redis & keyof Cluster>;
