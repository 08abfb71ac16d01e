import type { PollResponse, ProgressSnapshot } from '@eloquentpoll/contracts';
import { POLL_TOOL } from '../../../discovery/documents/poll-tool.ts';
import { ApiError, invalid } from '../../../http/api-error.ts';
import { keyOf } from '../../../http/hooks/idempotency-key.ts';
import { readPollOrder } from '../../../polls/order/poll-order.ts';
import { whyFailed } from '../../../polls/read/why-failed.ts';
import { awaitPoll } from '../../../polls/run/await-poll.ts';
import { submissionOf } from '../../../polls/run/submission.ts';
import { type Submission, submitPoll } from '../../../polls/run/submit-poll.ts';
import { progressSentence } from '../../progress-sentence.ts';
import type { Tool, ToolCall } from '../tool.ts';

/** POST /api/poll as a tool. Whether disconnecting cancels it depends on the client's revision. */
export const pollQuestion: Tool = {
  definition: POLL_TOOL,
  operation: 'poll',
  spends: true,
  async run(call): Promise<PollResponse> {
    const { context, gone, cancelsWhenGone, progress } = call;
    const submission = submissionIn(call);
    const onSnapshot = relay(progress, submission.order.options);
    const { result } = await awaitPoll(context, submission, gone, { onSnapshot, cancelsWhenGone });
    return unlessFailed(result);
  },
  /** Starts the poll without waiting for it and returns its id. */
  async start(call): Promise<string> {
    return (await submitPoll(call.context, submissionIn(call))).pollId;
  },
};

function submissionIn({ context, request, input }: ToolCall): Submission {
  const { idempotency_key: key, ...poll } = input;
  const order = readPollOrder(poll);
  request.idempotencyKey = oneKey(keyIn(key), request.idempotencyKey);
  return submissionOf(context, request, MCP_POLL, { order });
}

/** The entry point of polls from tool calls. */
export const MCP_POLL = 'mcp';

export function unlessFailed(result: PollResponse): PollResponse {
  if (result.status !== 'failed') return result;
  const { code, members, ...why } = whyFailed(result);
  throw new ApiError(code, { ...why, members: { ...members, poll_id: result.poll_id } });
}

/** The argument, otherwise the header; if both are sent and differ, the call is refused. */
function oneKey(argument: string | null, header: string | null): string | null {
  if (argument !== null && header !== null && argument !== header) {
    const detail = 'idempotency_key and the Idempotency-Key header differ; send one of them';
    throw invalid([{ pointer: '#/idempotency_key', detail }]);
  }
  return argument ?? header;
}

/** Reads a key from the arguments, because an agent's tool calls often share one connection and its headers. */
function keyIn(given: unknown): string | null {
  if (given === undefined) return null;
  const key = typeof given === 'string' ? keyOf(given) : null;
  if (key === null) {
    const detail = 'idempotency_key must be 1 to 255 visible ASCII characters';
    throw invalid([{ pointer: '#/idempotency_key', detail }]);
  }
  return key;
}

/** Sends one notification per vote. Snapshots may repeat votes, but MCP requires increasing progress. */
function relay(progress: ToolCall['progress'], options: readonly string[]): (snapshot: ProgressSnapshot) => void {
  let last = 0;
  return (snapshot) => {
    const { received, total } = snapshot.progress;
    if (received <= last) return;
    last = received;
    progress({ progress: received, total, message: progressSentence(snapshot, options) });
  };
}
