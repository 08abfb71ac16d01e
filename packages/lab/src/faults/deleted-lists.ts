import type { CallerAccount } from './caller-options.ts';
import type { ListRead } from './operations.ts';
import { type CallerRequest, type Gateway, send } from './request.ts';

// Lists and exports of an account from which something is deleted.

/** `sought`: an id or a marker that the list shows until the deletion. */
export interface SoughtList {
  readonly path: string;
  readonly sought: string;
}

const READ_WITHIN_MS = 10_000;

/** Reads all these lists from each gateway. */
export async function readListsOfDeleted(
  reads: ListRead[],
  lists: readonly SoughtList[],
  gateways: readonly Gateway[],
  { key }: CallerAccount,
): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  const one = async (gateway: Gateway, { path, sought }: SoughtList) => {
    const sent: CallerRequest = { method: 'GET', path, headers, withinMs: READ_WITHIN_MS };
    const asked = Date.now();
    try {
      const response = await send(gateway, sent, AbortSignal.timeout(READ_WITHIN_MS));
      const shows = (await response.text()).includes(sought);
      // The text of an error may repeat its path.
      if (!response.ok) return;
      reads.push({ path, gateway: gateway.name, asked, shows, isFromReplica: response.headers.has('replica-lag') });
    } catch {
      // Without a complete answer, the export at the end of the campaign must do.
    }
  };
  for (const gateway of gateways) await Promise.all(lists.map((list) => one(gateway, list)));
}
