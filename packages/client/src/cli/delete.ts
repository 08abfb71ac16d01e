import { EXIT, type Exit } from './exit-codes.ts';
import type { Invocation } from './invocation.ts';
import { jsonText } from './json-text.ts';
import { print } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** Deletes an ended poll or batch with its results. Asks first if a person can answer. */
export async function deleteCommand(
  { polls, terminal, json }: Invocation,
  { id, yes }: { id: string; yes: boolean },
): Promise<Exit> {
  const { out, signal, ask } = terminal;
  const what = id.startsWith('pb_') ? `batch ${id} with its rows and results` : `poll ${id} with its result`;
  if (!yes) {
    if (!ask) throw new UsageError(`This deletes the ${what} for good: add --yes.`);
    const answer = await ask(`Delete the ${what} for good? [y/N] `);
    if (!/^y(es)?$/i.test(answer?.trim() ?? '')) return EXIT.usage;
  }
  if (id.startsWith('pb_')) await polls.batchRun(id).delete({ signal });
  else await polls.deletePoll(id, { signal });
  print(out, json ? jsonText({ deleted: true, id }) : `Deleted ${id}.`);
  return EXIT.winner;
}
