import { readFileSync } from 'node:fs';
import { newPollId, newResultId } from '@eloquentpoll/polls';
import { sql } from 'kysely';
import type { wholeService } from './whole-service.ts';

// A process of another release, played by what it leaves behind: the arguments of its two statements, the record that it
// keeps of a running poll, and what it publishes. fixtures/release-1.json was recorded; it is never edited, because what was
// written once is read for as long as rows live.

type Service = Awaited<ReturnType<typeof wholeService>>;
type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
export type Members = { [name: string]: Json };

const text = readFileSync(new URL('./fixtures/release-1.json', import.meta.url), 'utf8');

interface Recorded {
  accept: Members;
  job: Members;
  run: { epoch: string; owner: string; brief: string; snapshot: Members; votes: Members[] };
  /** Published snapshots, under the key of the recorded file. */
  published: Members[];
  ended: { epoch: string; owner: string; brief: string; snapshot: Members };
  finish: Members & { response: Members };
}

export const recorded: Recorded = JSON.parse(text);

/** What a later release may do to what it writes: say more, anywhere. */
export function withMore<T>(value: T): T;
export function withMore(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withMore);
  if (typeof value !== 'object' || value === null) return value;
  // A tally has options for names.
  const members = Object.entries(value).map(([name, member]) => [name, name === 'tally' ? member : withMore(member)]);
  return { ...Object.fromEntries(members), of_a_later_release: { deep: [1, null, 'x'] } };
}

export function otherRelease({ gateway, accountId }: Service, change: <T>(value: T) => T) {
  const pollId = newPollId();
  const resultId = newResultId();
  const named = <T>(value: T): T =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll('{poll}', pollId)
        .replaceAll('{result}', resultId)
        .replaceAll('{owner}', accountId),
    );
  const written = <T>(value: T): string => JSON.stringify(change(named(value)));
  const { storage, bus } = gateway;
  const run = `${bus.prefix}:{${pollId}}:run`;
  const { db } = storage;

  /** Five words, the last one JSON without blanks. */
  const brief = (words: string): string => {
    const [owner, seq, status, result, progress = '{}'] = named(words).split(' ');
    return [owner, seq, status, result, JSON.stringify(change(JSON.parse(progress)))].join(' ');
  };

  return {
    pollId,
    resultId,
    accept: () => sql`select accept_poll(${written(recorded.accept)}::jsonb)`.execute(db),
    /** It has the poll, and three of its five votes. */
    async begin() {
      await sql`update polls set lease_owner = 'w_other', lease_epoch = 1, claims = 1,
                                 lease_until = now() + interval '1 hour' where id = ${pollId}`.execute(db);
      const { epoch, owner, snapshot, votes, brief: words } = recorded.run;
      const fields = { epoch, owner: named(owner), brief: brief(words), snapshot: written(snapshot) };
      const logged = votes.map((vote) => [`vote:${vote.seat}`, written(vote)]);
      await bus.redis.hset(run, { ...fields, ...Object.fromEntries(logged) });
    },
    publish: (snapshot: Members) => bus.redis.publish(`${bus.prefix}:{${pollId}}`, written(snapshot)),
    /** It is gone, and its lease is over. */
    die: () => sql`update polls set lease_until = now() - interval '1 second' where id = ${pollId}`.execute(db),
    async finish() {
      const { response, ...rest } = named(recorded.finish);
      const argument = { ...change(rest), response: JSON.stringify(change(response)) };
      await sql`select finish_poll(${JSON.stringify(argument)}::jsonb)`.execute(db);
    },
    async announceEnd() {
      const { epoch, owner, brief: words, snapshot } = recorded.ended;
      const end = { epoch, owner: named(owner), brief: brief(words), snapshot: written(snapshot) };
      await bus.redis.hset(run, end);
      const message = written({ ...snapshot, result: recorded.finish.response });
      for (const end of ['', ':end']) await bus.redis.publish(`${bus.prefix}:{${pollId}}${end}`, message);
    },
  };
}
