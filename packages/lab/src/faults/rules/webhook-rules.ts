import { createHmac, timingSafeEqual } from 'node:crypto';
import type { CampaignHistory, StoredPoll } from '../history.ts';
import { type Hook, LEFT, type ReceivedMessage } from '../webhook-receiver.ts';
import type { CampaignRule } from './rule.ts';

// What a receiver can find wrong that knows only its address and its secret.

const POLL_EVENTS = ['poll.completed', 'poll.failed'];
/** Standard Webhooks lets receivers refuse messages signed longer ago. */
const TOLERANCE_S = 300;

export const webhookRules: readonly CampaignRule[] = [
  {
    name: 'every webhook is signed with the secret of its address, lately, and the same message is the same',
    broken({ promised }) {
      if (!promised) return [];
      const bodies = new Map<string, string>();
      return promised.messages.flatMap((message) => {
        const { path, id, body, at, timestamp } = message;
        const hook = promised.hooks.find((one) => one.path === pathOf(message));
        const isRight = path.startsWith(LEFT) || (hook && isSigned(message, hook));
        const wrong = [
          ...(isRight ? [] : ['is not signed by the secret of its address']),
          ...(Math.abs(at / 1_000 - Number(timestamp)) <= TOLERANCE_S ? [] : [`was signed at ${timestamp}`]),
          ...((bodies.get(`${path} ${id}`) ?? body) === body ? [] : ['came with another body before']),
        ];
        bodies.set(`${path} ${id}`, body);
        return wrong.map((what) => `${id} at ${path} ${what}`);
      });
    },
  },
  {
    name: 'every end of a poll or batch is sent to each address of its account under one id, and to no other',
    broken(history) {
      const { promised } = history;
      if (!promised) return [];
      const due = dueEvents(history);
      const heard = Map.groupBy(uniqueMessages(promised.messages), (message) => {
        const { type, subject } = eventOf(message.body);
        return `${pathOf(message)} ${type} ${subject}`;
      });
      const isKept = keptSubjects(history);
      return [
        ...[...due].filter((event) => !heard.has(event)).map((event) => `never came: ${event}`),
        ...[...heard]
          .filter(([, messages]) => messages.length > 1)
          .map(([event, messages]) => `${messages.length} ids: ${event}`),
        ...[...heard.keys()]
          .filter((event) => !due.has(event) && isKept(event))
          .map((event) => `came and was not due: ${event}`),
      ];
    },
  },
  {
    name: 'an event of a poll says what is stored of it',
    broken({ promised, polls }) {
      if (!promised) return [];
      const byId = new Map(polls.map((poll) => [poll.id, poll]));
      return uniqueMessages(promised.messages).flatMap(({ id, body }) => {
        const { type, data } = eventOf(body);
        const poll = POLL_EVENTS.includes(type) ? byId.get(String(data.session_id)) : undefined;
        if (!poll || poll.isEmptied) return [];
        const costU = BigInt(Math.round(Number(data.cost_usd) * 1_000_000));
        const status = poll.resultStatus ?? 'failed';
        return data.status === status && costU === poll.postedU
          ? []
          : [`${id}: ${data.status} for ${costU}, stored is ${status} for ${poll.postedU}`];
      });
    },
  },
];

/** The query string of an address is chosen by the caller. */
const pathOf = ({ path }: ReceivedMessage): string => path.split('?')[0]!;

function isSigned({ id, timestamp, body, signature }: ReceivedMessage, { secret }: Hook): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const right = Buffer.from(`v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`);
  return signature.split(' ').some((one) => {
    const sent = Buffer.from(one);
    return sent.length === right.length && timingSafeEqual(sent, right);
  });
}

function eventOf(body: string): { type: string; subject: string; data: Record<string, unknown> } {
  const { type, data } = JSON.parse(body) as { type: string; data: Record<string, unknown> };
  const subject = data.session_id ?? data.batch_id ?? data.key_id ?? data.endpoint_id ?? '';
  return { type, subject: String(subject), data };
}

const uniqueMessages = (messages: readonly ReceivedMessage[]): ReceivedMessage[] => [
  ...new Map(messages.map((message) => [`${message.path} ${message.id}`, message])).values(),
];

const typeOf = ({ status }: StoredPoll): string => (status === 'failed' ? 'poll.failed' : 'poll.completed');

/** As `path type subject`. */
function dueEvents({ promised, polls, operations, batches }: CampaignHistory): Set<string> {
  const endpoints = new Map(
    promised!.hooks.filter(({ isEndpoint }) => isEndpoint).map(({ accountId, path }) => [accountId, path]),
  );
  const hookOf = new Map(
    operations.flatMap(({ hook, named, erasure }) =>
      hook && !erasure ? [...named].map((id) => [id, hook] as const) : [],
    ),
  );
  const accountOf = new Map(
    operations.flatMap(({ named, account }) => [...named].map((id) => [id, account ?? ''] as const)),
  );
  const due = new Set<string>();
  for (const poll of polls) {
    if (poll.row !== null || poll.isEmptied || poll.accountId === null) continue;
    const endpoint = endpoints.get(poll.accountId);
    if (endpoint) due.add(`${endpoint} ${typeOf(poll)} ${poll.id}`);
    const hook = hookOf.get(poll.id);
    if (hook) due.add(`${hook} ${typeOf(poll)} ${poll.id}`);
  }
  for (const { id } of batches) {
    const endpoint = endpoints.get(accountOf.get(id) ?? '');
    if (endpoint) due.add(`${endpoint} batch.completed ${id}`);
  }
  const reached = new Set(
    operations.flatMap(({ limitedKey, account }) => (limitedKey?.refused ? [`${account} ${limitedKey.id}`] : [])),
  );
  for (const one of reached) {
    const [account = '', key] = one.split(' ');
    const endpoint = endpoints.get(account);
    if (endpoint) due.add(`${endpoint} key.limit_reached ${key}`);
  }
  return due;
}

/** False for what was deleted, or never named to its caller: its message may or may not have been sent. */
function keptSubjects({ polls, batches, operations }: CampaignHistory): (event: string) => boolean {
  const erased = new Set(operations.flatMap(({ erasure, named }) => (erasure ? [...named] : [])));
  const emptied = new Set(polls.filter(({ isEmptied }) => isEmptied).map(({ id }) => id));
  const named = new Set(operations.flatMap(({ named }) => [...named]));
  const known = new Set([...polls.map(({ id }) => id), ...batches.map(({ id }) => id).filter((id) => named.has(id))]);
  return (event) => {
    const [, type = '', subject = ''] = event.split(' ');
    if (type === 'key.limit_reached') return false;
    return known.has(subject) && !erased.has(subject) && !emptied.has(subject);
  };
}
