import type { PollResponse } from '@eloquentpoll/contracts';

const made = new WeakMap<PollResponse, string>();

/** The JSON of a response, made once: it is stored and published, and does not change after it was built. */
export function responseJson(response: PollResponse): string {
  const known = made.get(response);
  if (known !== undefined) return known;
  const json = JSON.stringify(response);
  made.set(response, json);
  return json;
}
