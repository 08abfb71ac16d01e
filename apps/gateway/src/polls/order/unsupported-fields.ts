import { type Issue, isJsonObject } from '@eloquentpoll/contracts';

// Fields known from other services or tools that would change what a poll costs or where its end is reported. A caller
// who sends one counts on it, so it is refused by name before anything is charged. Other unknown fields are ignored.

const NOWHERE: Readonly<Record<string, string>> = {
  webhook_url: 'webhook_url is not known here; ask status_url with Prefer: wait=30, or POST /api/poll/stream',
  idempotency_key: 'idempotency_key is not known here; send the header Idempotency-Key',
};

/** Refused in the long form only. */
export const LONG_FORM_ONLY: Readonly<Record<string, string>> = {
  theme: 'theme is not known here; POST /api/quick-poll and POST /api/poll take it',
};

/** Takes any body, valid or not. */
export function unsupportedIssues(body: unknown, here: Readonly<Record<string, string>> = {}): Issue[] {
  if (!isJsonObject(body)) return [];
  return Object.entries({ ...NOWHERE, ...here }).flatMap(([field, detail]) =>
    body[field] === undefined ? [] : [{ pointer: `#/${field}`, detail }],
  );
}
