import type { Result } from 'ioredis';
import type { RedisClient } from './redis-client.ts';

// Start-time fair queueing in BullMQ's priorities. Time is counted in turns: in each turn every tenant with waiting polls
// has one of them taken. A poll's turn is the present one plus its rank among its tenant's waiting polls, so a tenant with
// many polls gets neither more nor less than one with few, and one that had none waits for nothing of the past.

/** BullMQ's bound on priorities. */
const MAX_PRIORITY = 2_097_151;
/** In one turn polls that their callers wait for come first. */
const PRIORITIES_PER_TURN = 2;
/** BullMQ's score of a job: the priority, then the order of arrival. */
const SCORE_OF_PRIORITY = 2 ** 32;
/** The present turn is forgotten when nothing was queued for this long. */
const KEPT_MS = 600_000;

// It never goes back while jobs wait, so that no job is left behind by later ones. Turns begin anew, long before BullMQ's
// bound, when no job waits.
const PRESENT_TURN = `
local head = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
local turn = tonumber(redis.call('GET', KEYS[2]) or '0')
if head[2] then
  turn = math.max(turn, math.floor((math.floor(tonumber(head[2]) / ${SCORE_OF_PRIORITY}) - 1) / ${PRIORITIES_PER_TURN}))
elseif turn > ${MAX_PRIORITY / 4} then
  turn = 0
end
redis.call('SET', KEYS[2], turn, 'PX', ${KEPT_MS})
return turn`;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    epPresentTurn(keys: number, prioritized: string, turn: string): Result<number, Context>;
  }
}

/** A poll's place in the fair order. */
export interface FairPlace {
  /** How many polls of its tenant wait before it. */
  rank: number;
  isAwaited: boolean;
}

export interface FairTurns {
  present(): Promise<number>;
  /** For each rank, how many jobs come before a new one with it. */
  before(ranks: readonly number[]): Promise<number[]>;
}

export function fairTurns(redis: RedisClient, prioritizedKey: string, turnKey: string): FairTurns {
  redis.defineCommand('epPresentTurn', { lua: PRESENT_TURN });
  const present = () => redis.epPresentTurn(2, prioritizedKey, turnKey);
  return {
    present,
    async before(ranks) {
      const turn = await present();
      const scores = ranks.map((rank) => (priorityOf(turn, { rank, isAwaited: false }) + 1) * SCORE_OF_PRIORITY - 1);
      return Promise.all(scores.map((score) => redis.zcount(prioritizedKey, '-inf', score)));
    },
  };
}

/** From 1: BullMQ takes jobs of priority 0 before all others. */
export const priorityOf = (turn: number, { rank, isAwaited }: FairPlace): number =>
  Math.min(PRIORITIES_PER_TURN * (turn + rank) + (isAwaited ? 1 : 2), MAX_PRIORITY);
