import { EXIT, type Exit } from './exit-codes.ts';
import type { Invocation } from './invocation.ts';
import { jsonText } from './json-text.ts';
import { plain } from './plain-text.ts';
import { print } from './terminal.ts';

export async function balanceCommand({ polls, terminal, json, siteUrl }: Invocation): Promise<Exit> {
  const { out, signal } = terminal;
  const found = await polls.balance({ signal });
  if (json) print(out, jsonText(found));
  else {
    const { balance, usage_cents, held_back_cents = 0 } = found;
    print(out, `${plain(balance)} to spend, ${cents(usage_cents)} spent`);
    if (held_back_cents > 0) print(out, `${cents(held_back_cents)} held back until a card payment has settled`);
    print(out, `Add funds: ${siteUrl}/dashboard#funds`);
  }
  return EXIT.winner;
}

const cents = (amount: number): string => `$${(amount / 100).toFixed(2)}`;
