import { doubt, forgetAll, loseKey } from './learn.ts';
import { CHANGES_KEY, ENDED_BY, ENDS_ALL, isDestructive } from './owned-operations.ts';
import type { People } from './people.ts';
import type { Prepared } from './prepare-request.ts';
import { type Remembered, THING_KINDS } from './remembered.ts';
import type { Party } from './step.ts';

/**
 * A request whose caller disconnected may or may not have taken effect, so everything that it could have ended or
 * created is in doubt.
 */
export function learnFromLeft(
  { operation: { id, ways }, actor, sent, names, credentials }: Prepared,
  remembered: Remembered,
  people: People,
): void {
  if ((credentials.access === 'none' || credentials.access === 'ended') && !ways.includes('none')) return;
  if (credentials.access === 'odd' && isDestructive(id) && (id === 'logout' || !ways.every((way) => way === 'none'))) {
    forgetAll(remembered, people);
    return;
  }
  // A code or a wallet may belong to either account.
  const parties = actor === 'n' || credentials.access === 'odd' ? (['a', 'b'] as const) : [actor];
  for (const party of parties) {
    const { keys, cookies } = people[party];
    if (id === 'savePanel') doubtPanels(remembered, party, sent.target);
    if (!isDestructive(id)) continue;
    for (const { kind, value } of names) {
      if (kind === ENDED_BY[id] || (kind === 'key-id' && CHANGES_KEY.has(id))) remembered.doubt(value, party);
      if (kind === 'key-id') loseKey(keys, value, false);
    }
    const { held } = credentials;
    if (id === 'logout' && held && cookies.includes(held)) doubt(held);
    if (!ENDS_ALL.has(id) || actor === 'n') continue;
    for (const each of [...keys, ...cookies]) doubt(each);
    const isDeletion = id.startsWith('deleteAccount');
    remembered.endAll(party, isDeletion ? THING_KINDS : ['key-id'], 'unsure');
    // No more keys or cookies are made for it.
    if (isDeletion) people[party].isDeleted = true;
  }
}

/** One of these names may belong to a panel now. */
function doubtPanels(remembered: Remembered, party: Party, target: string): void {
  for (const panel of remembered.of('panel', party, 'ended')) panel.standing = 'unsure';
  const name = target.split('?', 1)[0]!.split('/').at(-1)!;
  if (!remembered.find('panel', name, party)) remembered.note('panel', name, party, 'unsure');
}
