import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

export type MoneySource = 'chain' | 'card';

/** Problems with incoming money, and callers that cost us money, as Postgres sees them. */
export interface MoneyInFigures {
  /** Movements that none of our rows explains, per source. */
  misfits: Record<MoneySource, number>;
  /** Credited deposits whose transfer the chain has dropped. */
  lostDeposits: number;
  /** Accounts that owe us after a reversal, and how much together. */
  negative: { accounts: number; owedU: bigint };
  /** The caller whose questions made the most calls fail today, beyond the usual; the console shows who it is. */
  worstCaller: { refusals: number; otherFailures: number; unpaidU: bigint };
}

/** Some calls fail for every caller: this many failures per poll and this share of what was paid are normal. */
const USUAL = { failuresPerPoll: 0.5, shareOfPaid: 0.05 };
/** Callers below both limits are not examined. */
const [FEW_FAILURES, LITTLE_U] = [100, 100_000];

/** Uses indexes of open rows only, so that it stays cheap. */
export async function readMoneyFigures({ db }: Queries): Promise<MoneyInFigures> {
  const { rows } = await sql<Row>`
    select m.chain, m.card, m.lost, n.accounts, n.owed_u, w.refusals, w.other_failures, w.unpaid_u
      from (select count(*) filter (where source = 'chain' and reason <> 'lost_transfer')::integer as chain,
                   count(*) filter (where source = 'card')::integer as card,
                   count(*) filter (where reason = 'lost_transfer')::integer as lost
              from misfits where closed_at is null) m
     cross join (select count(*)::integer as accounts, coalesce(sum(held_u - posted_u), 0)::bigint as owed_u
                   from balances where allow_negative and posted_u < held_u) n
     cross join (select greatest(max(c.refusals - u.failures), 0)::integer as refusals,
                        greatest(max(c.other_failures - u.failures), 0)::integer as other_failures,
                        greatest(max(c.fault_u - c.charged_u - u.paid_u), 0)::bigint as unpaid_u
                   from caller_days c
                  cross join lateral (select coalesce(sum(polls), 0) * ${USUAL.failuresPerPoll}::numeric as failures,
                                             coalesce(sum(cost_u), 0) * ${USUAL.shareOfPaid}::numeric as paid_u
                                        from usage_days where account_id = c.account_id and day = c.day) u
                  where c.day = (now() at time zone 'utc')::date
                    and (c.refusals + c.other_failures >= ${FEW_FAILURES} or c.fault_u - c.charged_u >= ${LITTLE_U})) w`.execute(
    db,
  );
  const { chain, card, lost, accounts, owed_u, refusals, other_failures, unpaid_u } = rows[0]!;
  return {
    misfits: { chain, card },
    lostDeposits: lost,
    negative: { accounts, owedU: owed_u },
    worstCaller: { refusals, otherFailures: other_failures, unpaidU: unpaid_u },
  };
}

interface Row {
  chain: number;
  card: number;
  lost: number;
  accounts: number;
  owed_u: bigint;
  refusals: number;
  other_failures: number;
  unpaid_u: bigint;
}
