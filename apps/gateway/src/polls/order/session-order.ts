import { type Issue, isJsonObject } from '@eloquentpoll/contracts';
import type { PollOrder } from '@eloquentpoll/polls';
import { receiverIssues } from '../../accounts/webhooks/webhooks.ts';
import { refusal } from '../../http/validation/validator.ts';
import type { PollsContext } from '../context.ts';
import { type AskingCaller, pollIssues, readOrder } from './poll-order.ts';

// The long form of a poll whose end can be sent somewhere: sessions, streams, and the rows of batches.

type Parts = Pick<PollsContext, 'webhooks'>;

/** Everything that is wrong with it, as `pollIssues` says it. */
export function sessionIssues(context: Parts, body: unknown, caller: AskingCaller = 'not_awaited'): Issue[] {
  const { poll, webhookUrl } = split(context, body);
  return [...pollIssues(poll, caller), ...webhookIssues(context, webhookUrl)];
}

export function readSessionOrder(context: Parts, body: unknown, caller: AskingCaller = 'not_awaited'): PollOrder {
  const { poll, webhookUrl } = split(context, body);
  if (webhookIssues(context, webhookUrl).length > 0) throw refusal(sessionIssues(context, body, caller));
  const order = readOrder(poll, caller);
  return typeof webhookUrl === 'string' ? { ...order, webhook_url: new URL(webhookUrl).href } : order;
}

/** Where there are no webhooks the field stays with the rest, which refuses it by name. */
function split({ webhooks }: Parts, body: unknown): { poll: unknown; webhookUrl: unknown } {
  if (!webhooks || !isJsonObject(body) || body.webhook_url === undefined) return { poll: body, webhookUrl: undefined };
  const { webhook_url: webhookUrl, ...poll } = body;
  return { poll, webhookUrl };
}

/** Also of a batch, whose own field it is. */
export function webhookIssues({ webhooks }: Parts, url: unknown): Issue[] {
  if (!webhooks || url === undefined) return [];
  if (typeof url !== 'string') return [{ pointer: '#/webhook_url', detail: 'webhook_url must be a string' }];
  return receiverIssues(webhooks, 'webhook_url', url);
}
