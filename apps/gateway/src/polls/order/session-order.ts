import { type Issue, isJsonObject } from '@eloquentpoll/contracts';
import type { PollOrder } from '@eloquentpoll/polls';
import { receiverIssues } from '../../accounts/webhooks/webhooks.ts';
import { refusal } from '../../http/validation/validator.ts';
import type { PollsContext } from '../context.ts';
import { type AskingCaller, pollIssues, readOrder } from './poll-order.ts';

// The long form with `webhook_url`, for polls whose end can be reported: sessions, streams and batch rows.

type Parts = Pick<PollsContext, 'webhooks'>;

/** The issues of `pollIssues`, and those of `webhook_url`. */
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

/** Without webhooks `webhook_url` stays in the body, where it is refused as an unsupported field. */
function split({ webhooks }: Parts, body: unknown): { poll: unknown; webhookUrl: unknown } {
  if (!webhooks || !isJsonObject(body) || body.webhook_url === undefined) return { poll: body, webhookUrl: undefined };
  const { webhook_url: webhookUrl, ...poll } = body;
  return { poll, webhookUrl };
}

/** Also checks the `webhook_url` of a batch. */
export function webhookIssues({ webhooks }: Parts, url: unknown): Issue[] {
  if (!webhooks || url === undefined) return [];
  if (typeof url !== 'string') return [{ pointer: '#/webhook_url', detail: 'webhook_url must be a string' }];
  return receiverIssues(webhooks, 'webhook_url', url);
}
