import { FREE_POOL, readProviderSpend } from '@eloquentpoll/storage';
import type { Stores } from '../fixture/stores.ts';

// What the abuse attack has cost so far at the providers, and what the ledger billed to whom. All in micro-USD.

export interface Payer {
  readonly polls: number;
  readonly providerU: number;
  readonly billedU: number;
}

export interface Money {
  readonly abusers: Payer;
  readonly honest: Payer;
  readonly pool: Payer;
  /** What counts against the ceiling of this hour, including running polls. */
  readonly spendU: number;
}

const NOTHING: Payer = { polls: 0, providerU: 0, billedU: 0 };

/** Only polls that have ended: a running poll has not been billed yet. */
export async function readMoney({ query, storage }: Stores, honestId: string): Promise<Money> {
  const rows = await query<{ payer: keyof Money; polls: number; provider_u: string; billed_u: string }>(
    `select case h.debit when $1 then 'pool' when $2 then 'honest' else 'abusers' end as payer, count(*)::int as polls,
            sum(p.provider_cost_u)::text as provider_u, coalesce(sum(r.amount_u), 0)::text as billed_u
       from polls p
       join transfers h on h.idem = 'hold:' || p.id
       left join transfers r on r.pending_id = h.id and r.kind = 'post'
      where p.status <> 'running' group by 1`,
    [FREE_POOL, honestId],
  );
  const of = (name: keyof Money): Payer => {
    const row = rows.find(({ payer }) => payer === name);
    return row ? { polls: row.polls, providerU: Number(row.provider_u), billedU: Number(row.billed_u) } : NOTHING;
  };
  const { hourU } = await readProviderSpend(storage);
  return { abusers: of('abusers'), honest: of('honest'), pool: of('pool'), spendU: Number(hourU) };
}

export const lossU = ({ providerU, billedU }: Payer): number => providerU - billedU;
