import { type Metadata, PANEL_NAMES, type PanelName } from '@eloquentpoll/contracts';
import { isPollId } from '@eloquentpoll/polls';
import type { PollFilter } from '@eloquentpoll/storage';
import { isKeyId } from '../../accounts/keys/revoke-key.ts';
import type { PageQuery } from '../routes/serve-account-page.ts';

// The filter of the history is in the page's address, so that it works without scripts and can be bookmarked.

export const SHOWN = [
  { value: '', label: 'All' },
  { value: 'close', label: 'Close calls' },
  { value: 'ties', label: 'Ties' },
  { value: 'failed', label: 'No answer' },
] as const;

export const SORTED = [
  { value: '', label: 'Newest first' },
  { value: 'oldest', label: 'Oldest first' },
] as const;

/** Query parameters with their descriptions. */
export const POLLS_QUERY = {
  q: 'Text in the question.',
  show: '`close`, `ties` or `failed`.',
  preset: 'Panel of the polls.',
  key: 'Id of the API key that submitted the polls.',
  from: 'First day, in UTC.',
  to: 'Last day, in UTC.',
  label: 'A metadata pair, `key=value`.',
  sort: '`oldest` for oldest first.',
};

/** Query parameters for the position in the list. */
export const POLLS_CURSORS = { after: 'Session id; shows older polls.', before: 'Session id; shows newer polls.' };

export interface PollsFilter {
  /** The values for the form and for links; empty and unknown ones are left out. */
  fields: Readonly<Partial<Record<keyof typeof POLLS_QUERY, string>>>;
  filter: PollFilter;
  isOldestFirst: boolean;
  after?: string | undefined;
  before?: string | undefined;
}

/** Ignores values that it does not understand; their fields come back empty. */
export function readPollsFilter(query: PageQuery): PollsFilter {
  const q = query.q?.trim() || undefined;
  const show = SHOWN.find(({ value }) => value === query.show)?.value || undefined;
  const preset = PANEL_NAMES.find((name): name is PanelName => name === query.preset);
  const keyId = query.key && isKeyId(query.key) ? query.key : undefined;
  const [from, to] = [dayOf(query.from), dayOf(query.to)];
  const metadata = pairOf(query.label);
  const isOldestFirst = query.sort === 'oldest';
  return {
    fields: defined({
      q,
      show,
      preset,
      key: keyId,
      from: from && query.from,
      to: to && query.to,
      label: metadata && query.label?.trim(),
      sort: isOldestFirst ? 'oldest' : undefined,
    }),
    filter: {
      hasEnded: true,
      text: q,
      isClose: show === 'close' ? true : undefined,
      isTie: show === 'ties' ? true : undefined,
      status: show === 'failed' ? 'failed' : undefined,
      preset,
      keyId,
      createdAfter: from,
      createdBefore: to && new Date(to.getTime() + DAY_MS),
      metadata,
    },
    isOldestFirst,
    after: positionOf(query.after),
    before: positionOf(query.before),
  };
}

const DAY_MS = 86_400_000;

function dayOf(text = ''): Date | undefined {
  const date = new Date(`${text}T00:00:00Z`);
  return /^20\d\d-\d\d-\d\d$/.test(text) && !Number.isNaN(date.getTime()) ? date : undefined;
}

function pairOf(text = ''): Metadata | undefined {
  const at = text.indexOf('=');
  const key = text.slice(0, Math.max(0, at)).trim();
  return key === '' ? undefined : { [key]: text.slice(at + 1).trim() };
}

const positionOf = (text = ''): string | undefined => (isPollId(text) ? text : undefined);

const defined = <Key extends string>(fields: Record<Key, string | undefined>): Partial<Record<Key, string>> =>
  Object.fromEntries(Object.entries<string | undefined>(fields).filter(([, value]) => value !== undefined)) as Partial<
    Record<Key, string>
  >;

/** The same filter at another position of the list. */
export const pollsAddress = (
  path: string,
  fields: PollsFilter['fields'],
  more: Record<string, string> = {},
): string => {
  const query = new URLSearchParams({ ...fields, ...more }).toString();
  return query === '' ? path : `${path}?${query}`;
};
