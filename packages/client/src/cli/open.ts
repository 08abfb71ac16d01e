import { EXIT, type Exit } from './exit-codes.ts';
import { type Invocation, resultPage } from './invocation.ts';
import { jsonText } from './json-text.ts';
import { linkOf, print, programOf } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** Opens the page of a result in the browser, and prints its address. */
export async function openCommand({ polls, terminal, json, siteUrl }: Invocation, id: string): Promise<Exit> {
  const { out, signal } = terminal;
  const resultId = id.startsWith('ps_') ? (await polls.session(id).status({ signal })).result_id : id;
  if (resultId === null) {
    throw new UsageError(`This poll has no result yet. To follow it: ${programOf(terminal)} watch ${id}`);
  }
  // Fails with an exit code if the id is unknown, which the page alone could not.
  if (resultId === id) await polls.result(resultId, { signal });
  const url = resultPage(siteUrl, resultId);
  print(out, json ? jsonText({ url }) : linkOf(terminal, url));
  await terminal.openBrowser?.(url);
  return EXIT.winner;
}
