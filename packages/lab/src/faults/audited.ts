import { setTimeout as sleep } from 'node:timers/promises';
import type { Stores } from '../fixture/stores.ts';

// What a campaign needs to check audits, in which the other models are asked after the answer, and their state at its end.

export interface MadeAudit {
  readonly pollId: string;
  /** In the order in which they were heard; null for a model that is not in the panel. */
  readonly votes: readonly { readonly modelId: string | null; readonly option: number | null }[];
  /** How many of these votes the poll itself had heard. */
  readonly heard: number;
  readonly costU: bigint;
}

/** Money that a worker set aside in order to ask the other models of a poll. */
export interface AuditAttempt {
  readonly pollId: string;
  readonly epoch: number;
  readonly heldU: bigint;
  readonly posts: number;
  readonly voids: number;
  readonly postedU: bigint;
}

export interface AuditHistory {
  /** Polls that were selected when they were asked, and ended with the answer of a model, if only a failed one. */
  readonly drawn: readonly string[];
  readonly made: readonly MadeAudit[];
  /** How many were given up, by the count that is published. */
  readonly unmade: number;
  /** Polls whose audit still waits. */
  readonly waiting: readonly string[];
  readonly attempts: readonly AuditAttempt[];
}

/** Every question is audited, and money for audits does not run out. */
export const AUDITED_ENV = { AUDIT_RATE: '1', AUDIT_LATER_RATE: '1', AUDIT_DAILY_CAP_USD: '1000' } as const;

/** A dead worker's attempt ends after two minutes, and there are two of them. */
const MADE_WITHIN_MS = 300_000;
const LOOK_EVERY_MS = 500;

export async function everyAuditHasEnded({ query }: Pick<Stores, 'query'>, signal: AbortSignal): Promise<void> {
  const until = performance.now() + MADE_WITHIN_MS;
  while (performance.now() < until) {
    const [row] = await query<{ left: number }>('select count(*)::integer as left from audit_jobs');
    if (row!.left === 0) return;
    await sleep(LOOK_EVERY_MS, undefined, { signal });
  }
}

export async function readAuditHistory({ query }: Pick<Stores, 'query'>): Promise<AuditHistory> {
  const drawn = await query<{ id: string }>(
    `select p.id from polls p join results r on r.poll_id = p.id
      where p.audit_version is not null
        and exists (select from votes v where v.poll_id = p.id and v.error is distinct from 'aborted')`,
  );
  const made = await query<{
    poll_id: string;
    models: (string | null)[];
    votes: (number | null)[];
    heard: number;
    cost_u: string;
  }>(
    `select a.poll_id, a.stopped_at::integer as heard, a.cost_u::text, to_jsonb(a.votes) as votes,
            (select coalesce(jsonb_agg(r.models[s.seat + 1] order by s.place), '[]')
               from unnest(a.seats) with ordinality as s (seat, place)) as models
       from audits a join roster_versions r on r.version = a.roster_version`,
  );
  const [counted] = await query<{ unmade: number }>(
    'select coalesce(sum(unmade), 0)::integer as unmade from audit_months',
  );
  const waiting = await query<{ poll_id: string }>('select poll_id from audit_jobs');
  const attempts = await query<{
    poll_id: string;
    epoch: number;
    held_u: string;
    posts: number;
    voids: number;
    posted_u: string;
  }>(
    `select split_part(h.idem, ':', 3) as poll_id, split_part(h.idem, ':', 4)::integer as epoch, h.amount_u::text as held_u,
            (count(e.id) filter (where e.kind = 'post'))::integer as posts,
            (count(e.id) filter (where e.kind = 'void'))::integer as voids,
            coalesce(sum(e.amount_u) filter (where e.kind = 'post'), 0)::text as posted_u
       from transfers h left join transfers e on e.pending_id = h.id
      where h.kind = 'hold' and h.idem like 'hold:audit:%' group by h.id, h.idem, h.amount_u`,
  );
  return {
    drawn: drawn.map(({ id }) => id),
    made: made.map(({ poll_id, models, votes, heard, cost_u }) => ({
      ...{ pollId: poll_id, heard, costU: BigInt(cost_u) },
      votes: models.map((modelId, i) => ({ modelId, option: votes[i] ?? null })),
    })),
    unmade: counted!.unmade,
    waiting: waiting.map(({ poll_id }) => poll_id),
    attempts: attempts.map(({ poll_id, epoch, held_u, posts, voids, posted_u }) => ({
      ...{ pollId: poll_id, epoch, posts, voids },
      ...{ heldU: BigInt(held_u), postedU: BigInt(posted_u) },
    })),
  };
}
