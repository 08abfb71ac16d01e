import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import {
  acceptPoll,
  bury,
  claimPoll,
  creditAccount,
  finishPoll,
  insertKey,
  type Queries,
  reverseCredit,
  type Storage,
} from '../src/index.ts';
import { acceptance, type Fixture, finished, funded, newPoll, USD, unique, vote } from './fixtures.ts';

// Damage planted by a superuser, who switches off the constraints and triggers that would have refused it.

export const FORGED = `alter table transfers drop constraint transfers_rules;
  insert into transfers (idem, kind, debit, credit, amount_u, pending_id, poll_id)
  select 'forged', `;
export const OPERATOR = "'00000000-0000-4000-8000-000000000003'";
const CARD = "'00000000-0000-4000-8000-000000000004'";
const CHAIN = "'00000000-0000-4000-8000-000000000005'";
const CELLS = "'00000000-0000-4000-8000-000000000007'";
const MOVED = `insert into account_moves (id, account_id, direction, kind, from_cell, to_cell, state, amount_u)
  values (gen_random_uuid(), '$user', 'in', 'account', '1', '0', 'arrived', 5)`;
const POOL = "'00000000-0000-4000-8000-000000000001'";
const REVENUE = "'00000000-0000-4000-8000-000000000002'";
const CREDITED = 'insert into checkouts (account_id, amount_cents, state, processor_id, reversed_cents) values';
/** A month whose polls were dropped, up to this poll. */
const DROPPED_TO = (poll: string) => `update months set polls_dropped_at = now(), next_poll = '${poll}'
  where ends_at = (select max(ends_at) from months)`;
export const UNLOCK = 'alter table transfers disable trigger transfers_append_only;';

/** Rule -> damage that it must find. $user, $debtor, $empty, $running, $done, $free and $buried name what `populate` made. */
export const DAMAGE: Record<string, string[]> = {
  trial_balance: ["update balances set posted_u = posted_u + 1 where account_id = '$user'"],
  posted: [
    `update balances set posted_u = posted_u + case account_id when '$user' then 1 else -1 end
      where account_id in ('$user', '$debtor')`,
    `${UNLOCK} update transfers set amount_u = amount_u + 1 where kind = 'credit' and credit = '$user'`,
    // Each total is that of the closed pages and of the open part together.
    `insert into ledger_sums as l values ('$user', -1, -1, -1, -1, -1, -1, -1)
     on conflict (account_id) do update set posted_u = l.posted_u - 1, reversed_u = l.reversed_u - 1;
     update balances set allow_negative = true where account_id = '$user'`,
  ],
  held: [
    "update balances set held_u = held_u + 1 where account_id = '$user'",
    `${UNLOCK} delete from transfers where kind = 'void'`,
  ],
  used: ["update balances set used_u = used_u + 1 where account_id = '$user'"],
  identity: ["update balances set used_u = used_u + 1 where account_id = '$user'"],
  negative_available: [
    `alter table balances drop constraint balances_available;
     update balances set posted_u = held_u - 1 where account_id = '$user'`,
  ],
  negative_unexplained: ["update balances set allow_negative = true where account_id = '$user'"],
  key_limit_spent: ['update key_limits set spent_u = spent_u + 1', 'delete from usage_days'],
  key_limit_held: ['update key_limits set held_u = held_u - 1'],
  no_balance: ["insert into accounts (kind) values ('user')"],
  move: [MOVED, MOVED.replace('gen_random_uuid()', "'00000000-0000-4000-8000-0000000000aa'")],
  moves: [MOVED, `${MOVED}; ${MOVED}`, `${FORGED} 'reversal', '$user', ${CELLS}, 5, null, null`],
  parties: [
    `${FORGED} 'credit', gen_random_uuid(), '$user', 5, null, null`,
    `${FORGED} 'credit', ${OPERATOR}, gen_random_uuid(), 5, null, null`,
    `${FORGED} 'credit', '$debtor', '$user', 5, null, null`,
    `${FORGED} 'hold', '$user', ${OPERATOR}, 5, null, null`,
    `${FORGED} 'top_up', ${OPERATOR}, '$user', 5, null, null`,
    `${FORGED} 'reversal', ${OPERATOR}, '$user', 5, null, null`,
    `${FORGED} 'credit', ${OPERATOR}, ${POOL}, 5, null, null`,
    `${FORGED} 'top_up', '$user', ${POOL}, 5, null, null`,
    `${FORGED} 'reversal', '$debtor', '$user', 5, null, null`,
    `${FORGED} 'hold', ${OPERATOR}, ${REVENUE}, 5, null, null`,
  ],
  resolved_twice: [
    `drop index transfers_resolved_once;
     ${FORGED} kind, debit, credit, amount_u, pending_id, poll_id from transfers where kind = 'post' and poll_id = '$done'`,
    `drop index transfers_resolved_once;
     ${FORGED} 'void', debit, credit, amount_u, id, poll_id from transfers where idem = 'hold:$done'`,
  ],
  resolution: [
    `${UNLOCK} update transfers set amount_u = 1000001 where kind = 'post'`,
    `${UNLOCK} update transfers set amount_u = amount_u - 1 where kind = 'void'`,
    `${UNLOCK} update transfers set debit = '$debtor' where kind = 'post'`,
    `${UNLOCK} alter table transfers drop constraint transfers_rules;
     update transfers set credit = ${OPERATOR} where kind = 'post' and poll_id = '$done'`,
    `${UNLOCK} update transfers set poll_id = '$buried' where kind = 'post' and poll_id = '$done'`,
    `${FORGED} 'post', '$user', ${REVENUE}, 5, null, null`,
    `${FORGED} 'post', debit, credit, 1, id, poll_id from transfers where kind = 'credit' order by id limit 1`,
  ],
  poll_hold: [
    `${UNLOCK} delete from transfers where idem = 'hold:$running'`,
    `${FORGED} 'hold', debit, credit, 5, null, poll_id from transfers where idem = 'hold:$done'`,
    `${UNLOCK} update transfers set debit = '$debtor' where idem = 'hold:$running';
     update balances set held_u = held_u + case account_id when '$debtor' then 1000000 else -1000000 end
      where account_id in ('$user', '$debtor')`,
  ],
  poll_max_cost: [`update polls set spec = jsonb_set(spec, '{max_cost_u}', '999999') where id = '$running'`],
  poll_settled: [
    "update polls set status = 'failed', finished_at = now() where id = '$running'",
    "update polls set status = 'running', finished_at = null where id = '$done'",
    `${UNLOCK} delete from transfers where kind = 'void'`,
  ],
  poll_captured: [
    "update votes set billed_u = billed_u + 1 where seat = 0 and poll_id = '$done'",
    "delete from votes where poll_id = '$done'",
    "update polls set unvoted_u = 5 where id = '$done'",
    "update polls set unvoted_u = unvoted_u - 1 where id = '$free'",
    `update polls set unvoted_u = 400 where id = '$done'; update votes set billed_u = 0 where seat = 0 and poll_id = '$done'`,
  ],
  poll_result: [
    "update results set total_cost_u = total_cost_u - 1 where poll_id = '$done'",
    "delete from results where poll_id = '$done'",
  ],
  audit_hold: [
    `insert into transfers (idem, kind, debit, credit, amount_u)
     values ('hold:audit:ps_none:1', 'hold', '$user', '00000000-0000-4000-8000-000000000002', 5)`,
  ],
  poll_overdue: [
    "update polls set deadline_at = now() - interval '61 seconds' where id = '$running'",
    `update polls set lease_owner = 'w', lease_until = now(), run_until = now() - interval '61 seconds' where id = '$running'`,
    `update polls set lease_owner = 'w', lease_until = now(), run_until = now(), deadline_at = now() - interval '61 seconds'
      where id = '$running'`,
  ],
  hold_without_poll: [
    `${FORGED} 'hold', '$user', ${REVENUE}, 5, null, 'ps_none'`,
    `${DROPPED_TO('ps_none')}; ${FORGED} 'hold', '$user', ${REVENUE}, 5, null, 'ps_none'`,
  ],
  billed_twice: [
    "update votes set model_id = 'sim/m0' where poll_id = '$done' and seat = 1",
    // By a second hold of the same poll.
    `alter table transfers drop constraint transfers_rules;
     with again as (
       insert into transfers (idem, kind, debit, credit, amount_u, poll_id)
       select 'hold again', 'hold', debit, credit, amount_u, poll_id from transfers where idem = 'hold:$done' returning *)
     insert into transfers (idem, kind, debit, credit, amount_u, pending_id, poll_id)
     select 'captured again', 'post', again.debit, again.credit, post.amount_u, again.id, again.poll_id
       from again join transfers post on post.poll_id = again.poll_id and post.kind = 'post'`,
  ],
  billed_without_vote: [
    `alter table votes drop constraint votes_only_votes_billed;
     update votes set option = null where poll_id = '$done' and seat = 0`,
    "update votes set option = null where poll_id = '$done' and seat = 0",
    `alter table votes drop constraint votes_only_votes_billed;
     update votes set max_cost_u = max_cost_u - 1 where poll_id = '$free' and option is null`,
  ],
  vote_without_poll: ["update votes set poll_id = '$running' where poll_id = '$done'"],
  key_without_poll: [
    `insert into idempotency (principal, entry_point, key, fingerprint, poll_id, expires_at)
     values ('p', 'poll', 'k', 'f', 'ps_none', now() + interval '1 day')`,
  ],
  card_credit: [
    "update checkouts set state = 'open', reversed_cents = 0",
    'update checkouts set amount_cents = amount_cents + 1',
    "update checkouts set account_id = '$debtor' where processor_id = 'cs_1'",
    `insert into checkouts (account_id, amount_cents, state, processor_id)
     values ('$user', 100, 'credited', 'cs_2')`,
    `${FORGED} 'credit', ${CARD}, '$user', 5, null, null`,
    `${CREDITED} ('$empty', 100, 'credited', 'cs_4', 0)`,
  ],
  card_reversal: [
    'update checkouts set reversed_cents = reversed_cents + 1',
    'update checkouts set reversed_cents = 0',
    `${FORGED} 'reversal', '$user', ${CARD}, 5, null, null`,
    `${UNLOCK} update transfers set debit = '$user' where idem = 'card:cs_3:reversed:1'`,
    `${UNLOCK} delete from transfers where idem = 'card:cs_3:reinstated:2'`,
    `${UNLOCK} update transfers set credit = '$user' where idem = 'card:cs_3:reinstated:2'`,
    `${CREDITED} ('$debtor', 100, 'credited', 'cs_4', 50)`,
    `${CREDITED} ('$empty', 100, 'credited', 'cs_4', 50)`,
  ],
  held_back: [
    "update balances set held_back_u = 1 where account_id = '$user'",
    "update checkouts set held_back_u = 1 where processor_id = 'cs_1'",
    `insert into checkouts (account_id, amount_cents, held_back_u) values ('$user', 100, 2), ('$user', 100, 3)`,
  ],
  reserved: [
    "update balances set reserved_u = 1 where account_id = '$user'",
    "insert into batches (id, account_id, status, reserved_u, skipped) values ('pb_1', '$user', 'running', 1, '{}')",
    `insert into batches (id, account_id, status, reserved_u, skipped)
     values ('pb_1', '$user', 'running', 2, '{}'), ('pb_2', '$user', 'canceling', 3, '{}')`,
  ],
  chain_credit: [
    "update deposits set state = 'settled'",
    'update deposits set amount_u = amount_u + 1',
    "update deposits set account_id = '$debtor'",
    "update deposits set account_id = '$empty', amount_u = 1",
    `insert into deposits (chain_id, asset, payer, nonce, pay_to, amount_u, valid_before, state, proof, tx_hash, account_id)
     select chain_id + 1, asset, payer, nonce, pay_to, 5, valid_before, state, proof, tx_hash, account_id from deposits`,
    `${FORGED} 'credit', ${CHAIN}, '$user', 5, null, null`,
  ],
};

const AUDITED = `insert into roster_versions values ('v', 'broad', 'cheapest', false, true, '{}', '{}');
  insert into audit_jobs (poll_id, roster_version, heard, max_u, lease_epoch) values ('$done', 'v', '{}', 5, 1)`;

/** Rule -> the nearest to its damage that is right, or that another rule finds. */
export const ALLOWED: Record<string, string[]> = {
  poll_overdue: [
    "update polls set deadline_at = now() - interval '60 seconds' where id = '$running'",
    // Left by its worker, it waits for its deadline alone.
    `update polls set lease_owner = null, lease_until = now() + interval '1 hour', run_until = now() - interval '61 seconds'
      where id = '$running'`,
    `update polls set lease_owner = 'w', lease_until = now() - interval '1 microsecond',
       run_until = now() - interval '61 seconds' where id = '$running'`,
  ],
  audit_hold: [
    `${AUDITED}; insert into transfers (idem, kind, debit, credit, amount_u)
     values ('hold:audit:$done:1', 'hold', '00000000-0000-4000-8000-000000000006', ${REVENUE}, 5)`,
  ],
  billed_twice: ["update votes set model_id = 'sim/m0' where poll_id = '$done' and billed_u = 0"],
  billed_without_vote: [
    `update votes set option = null, fault_u = billed_u, max_cost_u = billed_u where poll_id = '$done' and seat = 0`,
  ],
  hold_without_poll: [`${DROPPED_TO('ps_none0')}; ${FORGED} 'hold', '$user', ${REVENUE}, 5, null, 'ps_none'`],
  poll_hold: [
    `insert into polls (id, result_id, status, spec, entry_point, lease_until, deadline_at, finished_at)
     values ('ps_0x', 'EP-x', 'failed', '{}', 'rest', now(), now(), now());
     insert into moved_results (poll_id, result_id, account_id) values ('ps_0x', 'EP-x', '$user')`,
  ],
};

/** What only reading everything finds. */
export const HIDDEN_DAMAGE: Record<string, string[]> = {
  batch_rows: [
    "insert into batches (id, account_id, status, total, skipped) values ('pb_1', '$user', 'completed', 1, '{}')",
    `insert into batches (id, account_id, status, skipped) values ('pb_1', '$user', 'running', '{}');
     insert into batch_rows (batch_id, line, custom_id) values ('pb_1', 1, 'a')`,
  ],
  reserved: [
    `alter table batches drop constraint batches_reserved;
     insert into batches (id, account_id, status, reserved_u, skipped) values ('pb_1', '$user', 'completed', 1, '{}')`,
  ],
  vote_without_poll: [
    `insert into votes select 'ps_0none', seat, model_id, null, 'error', 1, 0, 0, 0, 0, 0, 1, false, labels from votes where poll_id = '$done'`,
  ],
  poll_hold: [
    `insert into polls (id, result_id, status, spec, entry_point, lease_until, deadline_at, finished_at)
     values ('ps_0x', 'EP-x', 'failed', '{}', 'rest', now(), now(), now())`,
  ],
  key_without_poll: [
    `insert into idempotency (principal, entry_point, key, fingerprint, poll_id, expires_at)
     values ('p', 'poll', 'k', 'f', 'ps_none', now() + interval '3 hours')`,
  ],
};

/** Damage to closed books. */
export const CLOSED_DAMAGE: Record<string, string[]> = {
  page: [
    `${UNLOCK} update transfers set created_at = created_at + interval '1 microsecond' where id = 1`,
    `${UNLOCK} update transfers set idem = idem || '!' where kind = 'credit' and debit = ${OPERATOR}`,
    `update ledger_pages set hash = sha256('') where first_id = 1`,
    `${UNLOCK} update transfers set amount_u = amount_u + 1 where id = (select min(id) from transfers);
     update ledger_sums set posted_u = posted_u + 1; update balances set posted_u = posted_u + 1`,
  ],
  page_gap: ['delete from ledger_pages where first_id <> 1 and last_id <> (select max(last_id) from ledger_pages)'],
  seal: [
    `${UNLOCK} update transfers set created_at = created_at + interval '1 microsecond' where id = 1;
     update ledger_pages set hash = (hash_transfers(0, last_id)).hash where first_id = 1`,
    `update ledger_day_sums set used_u = used_u + 1 where account_id = '$user'`,
    "update ledger_seals set hash = sha256('')",
  ],
  usage_cost: ['update usage_days set cost_u = cost_u + 1 where cost_u > 0', 'delete from usage_days'],
  usage_months: ["insert into usage_label_months values ('$user', '2026-11-01', 'n', 'v', 1, 1, 0, 0, 0, 1, 0, 0, 0)"],
  sums: ["update ledger_sums set card_u = card_u + 1 where account_id = '$user'"],
};

/** Books with one of everything, and an account ($empty) that never had money. */
export async function populate({ storage, query }: Fixture) {
  const user = await funded(storage, 20n * USD);
  const debtor = await funded(storage, USD);
  const empty = await funded(storage, 0n);
  await reverseCredit(storage, { accountId: debtor, amountU: 3n * USD, source: 'operator', idem: unique('refund:') });
  await acceptPoll(storage, acceptance(null, { holdU: 5n, free: { dailyCapU: 100n } }));
  const limit = { limitU: 20n * USD, reset: 'never' } as const;
  const { id: keyId } = await insertKey(storage, { accountId: user, hash: randomBytes(32), prefix: 'ep_k_', limit });
  const byKey = () => acceptance(user, { poll: newPoll(user, { keyId, tenant: user }) });
  const polls = { running: byKey(), done: byKey(), buried: acceptance(user) };
  for (const request of Object.values(polls)) await acceptPoll(storage, request);
  const done = await claimPoll(storage, polls.done.poll.id, 'worker');
  await finishPoll(storage, finished(done!));
  const buried = await claimPoll(storage, polls.buried.poll.id, 'worker');
  await bury(storage, { ...buried!, reason: 'poison' });

  await query(
    `insert into checkouts (account_id, amount_cents, state, processor_id, reversed_cents)
     values ($1, 500, 'credited', 'cs_1', 0), ($2, 500, 'credited', 'cs_3', 100)`,
    [user, debtor],
  );
  await creditAccount(storage, { accountId: user, source: 'card', amountU: 5n * USD, idem: 'card:cs_1' });
  const disputed = { accountId: debtor, source: 'card' } as const;
  await creditAccount(storage, { ...disputed, amountU: 5n * USD, idem: 'card:cs_3' });
  await reverseCredit(storage, { ...disputed, amountU: 3n * USD, idem: 'card:cs_3:reversed:1' });
  await creditAccount(storage, { ...disputed, amountU: 2n * USD, idem: 'card:cs_3:reinstated:2' });
  const [deposit] = await query<{ id: string }>(
    `insert into deposits (chain_id, asset, payer, nonce, pay_to, amount_u, valid_before, state, proof, tx_hash,
       account_id)
     select 8453, a, a, n, a, 7000000, now(), 'credited', '{}', n, $1
       from (select decode(repeat('ab', 20), 'hex') as a, decode(repeat('cd', 32), 'hex') as n) bytes returning id`,
    [user],
  );
  const idem = `deposit:${deposit!.id}`;
  await creditAccount(storage, { accountId: user, amountU: 7n * USD, source: 'chain', idem });
  const free = acceptance(null, { holdU: 5n, free: { dailyCapU: 100n } });
  await acceptPoll(storage, free);
  const claim = await claimPoll(storage, free.poll.id, 'worker');
  const cost = { estimated_u: 1, max_u: 3, fault_u: 0 };
  const votes = [vote(0, { option: null, error: 'timeout', billed_u: 0, cost })];
  const aborted = [{ seat: 1, model_id: 'sim/m1', calls: 1, estimated_u: 1, max_u: 1 }];
  await finishPoll(storage, finished(claim!, { votes, aborted }));
  return {
    $user: user,
    $debtor: debtor,
    $empty: empty,
    $running: polls.running.poll.id,
    $done: polls.done.poll.id,
    $buried: polls.buried.poll.id,
    $free: free.poll.id,
  };
}

const UNDONE = new Error('undone');

/** What `look` sees while the damage is there. */
export async function withDamage<Seen>(
  owner: Storage,
  damage: string,
  look: (queries: Queries) => Promise<Seen>,
): Promise<Seen> {
  let seen: [Seen] | null = null;
  await owner.db
    .transaction()
    .execute(async (db) => {
      await sql`select setval('transfers_id_seq', (select max(id) from transfers))`.execute(db);
      for (const statement of damage.split(/;\s*\n?/).filter((text) => text.trim()))
        await sql.raw(statement).execute(db);
      seen = [await look({ db })];
      throw UNDONE;
    })
    .catch((error: unknown) => {
      if (error !== UNDONE) throw error;
    });
  if (seen === null) throw new Error('nothing was looked at');
  return seen[0];
}

export type Names = Awaited<ReturnType<typeof populate>>;

export const withNames = (damage: string, names: Names): string =>
  damage.replace(/\$\w+/g, (name) => names[name as keyof Names]);
