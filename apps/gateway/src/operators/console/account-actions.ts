import { balanceOf, emptyClosedAccounts, freezeAccount, type Shut, unfreezeAccount } from '@eloquentpoll/storage';
import { closeEverywhere } from '../../accounts/close-everywhere.ts';
import { revokeEverything } from '../../accounts/keys/revoke-everything.ts';
import type { OperatorsContext } from '../context.ts';
import { OF_ACCOUNT, type OperatorAction } from './operator-action.ts';
import { enqueue } from './poll-actions.ts';

export const freeze: OperatorAction = {
  label: 'Freeze',
  subject: OF_ACCOUNT,
  fields: [],
  async perform(context, { subject }) {
    const shut = await freezeAccount(context.storage, subject);
    if (!shut) return { outcome: 'gone' };
    await spread(context, shut);
    if (shut.isRepeated) return { outcome: 'gone' };
    return { outcome: 'frozen', facts: { polls_ended: String(shut.ended.length) } };
  },
};

export const unfreeze: OperatorAction = {
  label: 'Unfreeze',
  subject: OF_ACCOUNT,
  fields: [],
  async perform({ storage, keys }, { subject }) {
    const hashes = await unfreezeAccount(storage, subject);
    if (!hashes) return { outcome: 'gone' };
    await Promise.all(hashes.map((hash) => keys.invalidate(hash)));
    return { outcome: 'unfrozen' };
  },
};

/** A worker empties the rest, including running polls, within minutes. */
export const close: OperatorAction = {
  label: 'Close for good',
  subject: OF_ACCOUNT,
  fields: [],
  async perform(context, { subject }) {
    const { storage } = context;
    const balance = await balanceOf(storage, subject);
    if (!(await closeEverywhere(context, subject))) return { outcome: 'gone' };
    let emptied = 0;
    for (let batch = 0; batch < MAX_BATCHES; batch++) {
      const polls = await emptyClosedAccounts(storage);
      emptied += polls.length;
      if (polls.length === 0) break;
    }
    return {
      outcome: 'closed',
      facts: { polls_emptied: String(emptied), balance_u: String(balance?.postedU ?? 0n) },
    };
  },
};

const MAX_BATCHES = 20;

export const revoke: OperatorAction = {
  label: 'Revoke all keys and logins',
  subject: OF_ACCOUNT,
  fields: [],
  async perform(context, { subject }) {
    const { revoked_count: keys, logins_ended: logins } = await revokeEverything(context, subject);
    const outcome = keys + logins > 0 ? 'revoked' : 'gone';
    return { outcome, facts: { keys: String(keys), logins: String(logins) } };
  },
};

/** Removes its keys from the cache of all gateways, and hands its polls to workers at once. */
async function spread(context: OperatorsContext, { keys, ended }: Shut): Promise<void> {
  await Promise.all([
    ...keys.map((hash) => context.keys.invalidate(hash)),
    // They end without a call, so even flex polls need not wait and go into the standard lane.
    ...ended.map(({ id, epoch }) => enqueue(context, id, { epoch, lane: 'standard' })),
  ]);
}
