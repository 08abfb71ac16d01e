import type { PollResponse } from '@eloquentpoll/contracts';
import { wasCutShort } from './verdict-of.ts';

/** As it is stored. The mark is taken out when a result is read; the release before passes it on to the poll's owner. */
export type StoredResponse = PollResponse & { canceled?: true };

const made = new WeakMap<PollResponse, string>();

/** The JSON of a response, made once: it is stored and published, and does not change after it was built. */
export function responseJson(response: PollResponse): string {
  const known = made.get(response);
  if (known !== undefined) return known;
  const json = JSON.stringify(response);
  made.set(response, json);
  return json;
}

/** What is stored keeps that its caller ended it, which no vote says where nothing was under way. */
export const storedJson = (response: PollResponse, isCanceled: boolean): string =>
  wasCutShort(response, isCanceled) ? JSON.stringify({ ...response, canceled: true }) : responseJson(response);

export function readStored({ canceled, ...response }: StoredResponse): { response: PollResponse; isCanceled: boolean } {
  return { response, isCanceled: canceled === true };
}
