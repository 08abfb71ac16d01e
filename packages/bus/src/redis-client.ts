import type { Cluster, Redis } from 'ioredis';

/** A single Redis or a cluster: only the members that both have. */
export type RedisClient = Pick<Redis, keyof Redis & keyof Cluster>;
