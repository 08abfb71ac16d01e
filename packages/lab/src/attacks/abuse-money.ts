import { FREE_POOL, readProviderSpend } from '@eloquentpoll/storage';
import type { Stores } from '../fixture/stores.ts';

// What a night of abuse has cost so far and who paid, as providers and the ledger say. In micro-USD.

export interface Payer {
  readonly polls: number;
  readonly providerU: number;
  readonly billedU: number;
}

export interface Money {
  readonly abusers: Payer;
  readonly honest: Payer;
  readonly pool: Payer;
  /** Against the ceiling of the hour, running polls included. */
  readonly spendU: number;
}

const NOTHING: Payer = { polls: 0, providerU: 0, billedU: 0 };

/** Polls that have ended; what runs has been billed nothing yet. */
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
