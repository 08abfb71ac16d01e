import type { ApiKey } from '../eloquentpoll.ts';
import { EXIT, type Exit } from './exit-codes.ts';
import { costText } from './figures.ts';
import { mayBeMade } from './heard.ts';
import type { Invocation } from './invocation.ts';
import { jsonText } from './json-text.ts';
import { pad, plain } from './plain-text.ts';
import type { KeysCommand } from './read-key-terms.ts';
import { print, programOf } from './terminal.ts';
import { UsageError } from './usage-error.ts';

export async function keysCommand(invocation: Invocation, command: KeysCommand): Promise<Exit> {
  const { polls, terminal, json } = invocation;
  const { out, err, signal } = terminal;
  switch (command.action) {
    case 'list': {
      const keys = await polls.keys({ signal });
      if (json) print(out, jsonText(keys));
      else print(out, ...(keys.length === 0 ? ['No keys yet.'] : keys.map(lineOf)));
      return EXIT.winner;
    }
    case 'create': {
      const made = await polls.createKey(command.terms, { signal }).catch((error: unknown) => {
        if (!json && mayBeMade(error, invocation.heard, signal)) {
          print(err, 'A key may have been created that cannot be shown again. To find and revoke it:');
          print(err, `  ${programOf(terminal)} keys`);
        }
        throw error;
      });
      print(out, json ? jsonText(made) : plain(made.key));
      if (!json) print(err, `Copy it now. It is not shown again. To revoke it: keys revoke ${plain(made.id)}`);
      return EXIT.winner;
    }
    case 'change': {
      const changed = await polls.changeKey(await idOf(invocation, command.id), command.change, { signal });
      print(out, json ? jsonText(changed) : lineOf(changed));
      return EXIT.winner;
    }
    case 'revoke': {
      const id = await idOf(invocation, command.id);
      const answer = await polls.revokeKey(id, { signal });
      print(out, json ? jsonText(answer) : `Revoked ${id}.`);
      return EXIT.winner;
    }
  }
}

function lineOf(key: ApiKey): string {
  const { id, key_prefix, label, created_at, last_used_at, expires_at, revoked_at } = key;
  const used = last_used_at === null ? 'never used' : `used ${day(last_used_at)}`;
  const ended = revoked_at !== null ? `revoked ${day(revoked_at)}` : expires_at !== null && `until ${day(expires_at)}`;
  const cells = [
    id,
    `${key_prefix}…`,
    `made ${day(created_at)}`,
    pad(used, 15),
    ...(ended ? [ended] : []),
    ...(key.read_only ? ['reads only'] : []),
    pad(spendingOf(key), 24),
    label,
  ];
  return plain(cells.join('  '));
}

function spendingOf({ limit_usd, limit_reset, spent_usd, spent_month_usd }: ApiKey): string {
  if (limit_usd === null) return `${dollars(spent_month_usd)} this month`;
  const per = { never: '', daily: ' a day', monthly: ' a month' }[limit_reset];
  return `${dollars(spent_usd ?? 0)} of ${dollars(limit_usd)}${per}`;
}

const dollars = (usd: number): string => (usd > 0 && usd < 0.01 ? costText(usd) : `$${usd.toFixed(2)}`);
const day = (time: string): string => time.slice(0, 10);

/** Finds a key by its id, or by its beginning if only one active key starts like this. */
async function idOf({ polls, terminal }: Invocation, text: string): Promise<string> {
  if (!text.startsWith('ep_k_')) return text;
  const keys = await polls.keys({ signal: terminal.signal });
  const active = keys.filter(({ key_prefix, revoked_at }) => revoked_at === null && text.startsWith(key_prefix));
  const [key] = active;
  if (active.length === 1 && key) return key.id;
  throw new UsageError(
    key ? 'Several keys begin with this; use the id from keys list.' : 'None of your active keys begins with this.',
  );
}
