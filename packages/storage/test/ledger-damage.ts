import { randomBytes } from 'node:crypto';
import { acceptPoll, bury, claimPoll, creditAccount, finishPoll, insertKey, reverseCredit } from '../src/index.ts';
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
const UNLOCK = 'alter table transfers disable trigger transfers_append_only;';

/** Rule -> damage that it must find. $user, $debtor, $running, $done, $free and $buried name what `populate` made. */
export const DAMAGE: Record<string, string[]> = {
  trial_balance: ["update balances set posted_u = posted_u + 1 where account_id = '$user'"],
  posted: [
    `update balances set posted_u = posted_u + case account_id when '$user' then 1 else -1 end
      where account_id in ('$user', '$debtor')`,
    `${UNLOCK} update transfers set amount_u = amount_u + 1 where kind = 'credit' and credit = '$user'`,
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
  moves: [MOVED, `${FORGED} 'reversal', '$user', ${CELLS}, 5, null, null`],
  parties: [
    `${FORGED} 'credit', gen_random_uuid(), '$user', 5, null, null`,
    `${FORGED} 'credit', ${OPERATOR}, gen_random_uuid(), 5, null, null`,
    `${FORGED} 'credit', '$debtor', '$user', 5, null, null`,
    `${FORGED} 'hold', '$user', ${OPERATOR}, 5, null, null`,
    `${FORGED} 'top_up', ${OPERATOR}, '$user', 5, null, null`,
    `${FORGED} 'reversal', ${OPERATOR}, '$user', 5, null, null`,
  ],
  resolved_twice: [
    `drop index transfers_resolved_once;
     ${FORGED} kind, debit, credit, amount_u, pending_id, poll_id from transfers where kind = 'post' and poll_id = '$done'`,
  ],
  resolution: [
    `${UNLOCK} update transfers set amount_u = 1000001 where kind = 'post'`,
    `${UNLOCK} update transfers set amount_u = amount_u - 1 where kind = 'void'`,
    `${UNLOCK} update transfers set debit = '$debtor' where kind = 'post'`,
    `${FORGED} 'post', debit, credit, 1, id, poll_id from transfers where kind = 'credit' order by id limit 1`,
  ],
  poll_hold: [
    `${UNLOCK} delete from transfers where idem = 'hold:$running'`,
    `${FORGED} 'hold', debit, credit, 5, null, poll_id from transfers where idem = 'hold:$done'`,
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
  poll_overdue: ["update polls set deadline_at = now() - interval '61 seconds' where id = '$running'"],
  hold_without_poll: [`${FORGED} 'hold', '$user', '00000000-0000-4000-8000-000000000002', 5, null, 'ps_none'`],
  billed_twice: ["update votes set model_id = 'sim/m0' where poll_id = '$done' and seat = 1"],
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
  ],
  card_reversal: [
    'update checkouts set reversed_cents = reversed_cents + 1',
    'update checkouts set reversed_cents = 0',
    `${FORGED} 'reversal', '$user', ${CARD}, 5, null, null`,
    `${UNLOCK} update transfers set debit = '$user' where idem = 'card:cs_3:reversed:1'`,
    `${UNLOCK} delete from transfers where idem = 'card:cs_3:reinstated:2'`,
  ],
  held_back: [
    "update balances set held_back_u = 1 where account_id = '$user'",
    "update checkouts set held_back_u = 1 where processor_id = 'cs_1'",
  ],
  reserved: [
    "update balances set reserved_u = 1 where account_id = '$user'",
    "insert into batches (id, account_id, status, reserved_u, skipped) values ('pb_1', '$user', 'running', 1, '{}')",
  ],
  chain_credit: [
    "update deposits set state = 'settled'",
    'update deposits set amount_u = amount_u + 1',
    "update deposits set account_id = '$debtor'",
    `${FORGED} 'credit', ${CHAIN}, '$user', 5, null, null`,
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

/** Books with one of everything. */
export async function populate({ storage, query }: Fixture) {
  const user = await funded(storage, 20n * USD);
  const debtor = await funded(storage, USD);
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
    $running: polls.running.poll.id,
    $done: polls.done.poll.id,
    $buried: polls.buried.poll.id,
    $free: free.poll.id,
  };
}

export type Names = Awaited<ReturnType<typeof populate>>;

export const withNames = (damage: string, names: Names): string =>
  damage.replace(/\$\w+/g, (name) => names[name as keyof Names]);
