import type { PollResponse } from '@eloquentpoll/contracts';
import { wasCutShort } from './verdict-of.ts';

/**
 * The response as stored. `canceled` is removed when a result is read; the previous release passes it on to the poll's
 * owner.
 */
export type StoredResponse = PollResponse & { canceled?: true };

const made = new WeakMap<PollResponse, string>();

/**
 * The JSON of a response, made once: it is stored and published, and the response does not change after it was built.
 */
export function responseJson(response: PollResponse): string {
  const known = made.get(response);
  if (known !== undefined) return known;
  const json = JSON.stringify(response);
  made.set(response, json);
  return json;
}

/** The stored JSON records that the caller canceled the poll, because no vote shows it if no call was running. */
export const storedJson = (response: PollResponse, isCanceled: boolean): string =>
  wasCutShort(response, isCanceled) ? JSON.stringify({ ...response, canceled: true }) : responseJson(response);

export function readStored({ canceled, ...response }: StoredResponse): { response: PollResponse; isCanceled: boolean } {
  return { response, isCanceled: canceled === true };
}
