import {
  findPoll,
  findPollByResult,
  findResult,
  findRunStates,
  listDeliveries,
  listPolls,
  type PollFilter,
  type Queries,
  readCloseRows,
  readHistory,
  readRecentResults,
  readReputation,
  readUsageGroups,
  type UsageGrouping,
} from '@eloquentpoll/storage';
import { type Filled, LISTS_ENDPOINT } from './fill-lists.ts';

/** What a page or an operation asks the database. `draw` returns a random whole number below its bound. */
export interface ListQuestion {
  readonly name: string;
  ask(queries: Queries, draw: (below: number) => number): Promise<unknown>;
}

const LIMIT = 100;

const twenty = <T>(one: () => T): T[] => Array.from({ length: 20 }, one);

/** Each filter and direction of GET /api/polls, from any place in the list; single polls; and the other lists. */
export function listQuestions({ accountId, keyIds, pollId, resultId, since }: Filled, polls: number): ListQuestion[] {
  /** Avoids multiples of 100, which are polls of the other account. */
  const anyPoll = (draw: (below: number) => number): string => pollId(1 + Math.max(1, draw(polls / 100 - 1)) * 100);
  const anyTime = (draw: (below: number) => number) => new Date(since.getTime() + draw(300 * 86_400) * 1_000);
  const page =
    (filter: PollFilter): ListQuestion['ask'] =>
    (queries, draw) =>
      listPolls(queries, accountId, filter, {
        limit: LIMIT,
        from: draw(4) === 0 ? undefined : { pollId: anyPoll(draw), direction: draw(2) === 0 ? 'older' : 'newer' },
      });
  const filters: Record<string, PollFilter> = {
    'no filter': {},
    'status=completed': { status: 'completed' },
    'status=failed': { status: 'failed' },
    'status=running': { status: 'running' },
    'preset=strong': { preset: 'strong' },
    'preset=custom (none)': { preset: 'custom' },
    key_id: { keyId: keyIds[0] },
    'key_id, preset=strong': { keyId: keyIds[0], preset: 'strong' },
    'close=true': { isClose: true },
    'close=false': { isClose: false },
    'ties (pages)': { isTie: true },
    'text of the question (pages)': { text: 'case 12345' },
    'metadata env=prod': { metadata: { env: 'prod' } },
    'metadata env=prod, customer': { metadata: { env: 'prod', customer: 'c17' } },
    'metadata customer': { metadata: { customer: 'c17' } },
    'metadata customer, close=true': { metadata: { customer: 'c17' }, isClose: true },
    'metadata env=test, status=failed': { metadata: { env: 'test' }, status: 'failed' },
    'status=failed, preset=custom (none)': { status: 'failed', preset: 'custom' },
  };
  const offsets = [0, 1_000, 10_000, 100_000].filter((offset) => offset < polls);
  return [
    ...Object.entries(filters).map(([name, filter]) => ({ name: `polls: ${name}`, ask: page(filter) })),
    {
      name: 'polls: created_after, created_before',
      ask: (queries, draw) => {
        const createdAfter = anyTime(draw);
        const createdBefore = new Date(createdAfter.getTime() + 86_400_000);
        return listPolls(queries, accountId, { createdAfter, createdBefore }, { limit: LIMIT });
      },
    },
    ...offsets.map((offset) => ({
      name: `history: offset=${offset}`,
      ask: (queries: Queries) => readHistory(queries, accountId, LIMIT, offset),
    })),
    {
      name: 'status of 20 runs',
      ask: (queries, draw) =>
        findRunStates(
          queries,
          twenty(() => anyPoll(draw)),
        ),
    },
    { name: 'poll by its id', ask: (queries, draw) => findPoll(queries, anyPoll(draw)) },
    { name: 'result by its id', ask: (queries, draw) => findResult(queries, resultId(1 + draw(polls))) },
    {
      name: 'poll by the id of its result',
      ask: (queries, draw) => findPollByResult(queries, resultId(1 + draw(polls))),
    },
    {
      name: 'close calls of a batch of long ago (pages)',
      ask: (queries, draw) => {
        const createdAt = anyTime(draw);
        const endedAt = new Date(createdAt.getTime() + 3_600_000);
        return readCloseRows(queries, { accountId, id: `pb_${'0'.repeat(32)}`, createdAt, endedAt }, LIMIT);
      },
    },
    { name: 'results of the last month', ask: (queries) => readReputation(queries, { simulated: true }) },
    ...usageQuestions(accountId),
    ...([undefined, 'delivered', 'pending', 'failed'] as const).map((status) => ({
      name: `deliveries: ${status ? `status=${status}` : 'no filter'}`,
      ask: (queries: Queries) => listDeliveries(queries, accountId, LISTS_ENDPOINT, { status, limit: LIMIT }),
    })),
    { name: 'history: recent', ask: (queries) => readRecentResults(queries, accountId) },
  ];
}

const GROUPINGS: readonly UsageGrouping[] = ['day', 'key', 'preset', 'surface', { metadata: 'customer' }];

/** Of the last month, and of a year. */
function usageQuestions(accountId: string): ListQuestion[] {
  const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
  return GROUPINGS.flatMap((groupBy) =>
    [30, 365].map((days) => ({
      name: `usage: by ${typeof groupBy === 'string' ? groupBy : 'metadata'}, ${days} days`,
      ask: (queries: Queries) =>
        readUsageGroups(queries, accountId, { groupBy, from: dayBefore(days), to: dayBefore(1), maxGroups: 1_000 }),
    })),
  );
}
