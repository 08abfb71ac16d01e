import { parsed } from '../judge-answer.ts';
import type { ThingKind } from './remembered.ts';

// At the end of a sequence: things that still exist must be in the lists of their account, and ended ones must not.

interface OwnList {
  readonly operation: string;
  readonly target: string;
  readonly kind: ThingKind;
  /** Lists with fewer entries than this fit on the one page that is read. */
  readonly most: number;
  idsIn(json: unknown): readonly string[];
}

type Json = Readonly<Record<string, unknown>>;

const each = (
  json: unknown,
  list: string | null,
  member: string,
  wanted: (item: Json) => boolean = () => true,
): string[] => {
  const items = list === null ? json : (json as Json | undefined)?.[list];
  return Array.isArray(items) ? (items as Json[]).filter(wanted).map((item) => String(item[member])) : [];
};

export const OWN_LISTS: readonly OwnList[] = [
  {
    operation: 'listKeys',
    target: '/api/keys?limit=100',
    kind: 'key-id',
    most: 100,
    idsIn: (json) => each(json, null, 'id', ({ revoked_at }) => revoked_at === null),
  },
  {
    operation: 'listBatches',
    target: '/api/batches?limit=100',
    kind: 'batch',
    most: 100,
    idsIn: (json) => each(json, 'batches', 'batch_id'),
  },
  {
    operation: 'listWebhookEndpoints',
    target: '/api/webhook-endpoints',
    kind: 'endpoint',
    most: 100,
    idsIn: (json) => each(json, 'endpoints', 'endpoint_id'),
  },
  {
    operation: 'listPanels',
    target: '/api/panels',
    kind: 'panel',
    most: 50,
    idsIn: (json) => each(json, 'panels', 'name'),
  },
  {
    operation: 'listPolls',
    target: '/api/polls?limit=100',
    kind: 'session',
    most: 100,
    idsIn: (json) => each(json, 'polls', 'session_id'),
  },
];

export function wrongList(
  { idsIn, kind, most }: OwnList,
  text: string,
  live: readonly string[],
  ended: readonly string[],
): string | null {
  const listed = new Set(idsIn(parsed(text)));
  const missing = listed.size < most ? live.find((id) => !listed.has(id)) : undefined;
  if (missing !== undefined) return `the list lacks the ${kind} ${missing}`;
  const left = ended.find((id) => listed.has(id));
  return left === undefined ? null : `the list still has the ${kind} ${left}`;
}
