import { isPollId } from '@eloquentpoll/polls';
import { findPoll, findResultOfPoll, type Poll } from '@eloquentpoll/storage';
import type { FastifyRequest } from 'fastify';
import { accountOf } from '../../http/access.ts';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../../polls/context.ts';
import { whyFailed, whyWithoutResult } from '../../polls/read/why-failed.ts';
import { cancelUnkeyed } from '../../polls/run/cancel-unkeyed.ts';
import { knownOf } from '../../polls/run/outcome-unknown.ts';
import { progressSentence } from '../progress-sentence.ts';
import { refuseSpending, type ToolResult, toolResult } from './call-tool.ts';
import type { Tool, ToolCall } from './tool.ts';
import { MCP_POLL, unlessFailed } from './tools/poll-question.ts';

// Tasks (SEP-2663): a client that declares the extension gets a task at once, and polls it until it has ended. The task
// is the poll itself, so any gateway can answer for it, and it needs no ttl.

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

const POLL_INTERVAL_MS = 1_000;

/** A type alias, because an interface has no implicit index signature, which the library requires. */
export type PollTask = {
  taskId: string;
  status: 'working' | 'completed' | 'cancelled';
  statusMessage?: string;
  createdAt: string;
  lastUpdatedAt: string;
  ttlMs: null;
  pollIntervalMs: number;
  result?: ToolResult;
};

/** The library's type requires `content` in every result of a tool call. */
type StartedTask = PollTask & { resultType: 'task'; content: [] };

/** The task of a call, or a result if it could not start. `gone`: the client left before the answer was sent. */
export async function startTask(
  start: NonNullable<Tool['start']>,
  tool: Tool,
  call: ToolCall,
  gone: AbortSignal,
): Promise<StartedTask | ToolResult> {
  let pollId = '';
  const begun = await toolResult(call, async () => {
    refuseSpending(tool, call);
    pollId = await start(call);
    return {};
  });
  if (pollId === '') return begun;
  cancelWhenLeft(call, pollId, gone);
  try {
    const made = { pollId, accountId: accountOf(call.request) };
    const poll = await knownOf(made, () => findPoll(call.context.storage, pollId));
    if (!poll) throw new ApiError('poll_execution_failed');
    return { resultType: 'task', content: [], ...stateOf(poll) };
  } catch (error) {
    return toolResult(call, () => Promise.reject(error));
  }
}

/** A client that left before it learned of the task cannot cancel it. A shutdown of the gateway does not count. */
function cancelWhenLeft({ context, request }: ToolCall, pollId: string, gone: AbortSignal): void {
  const left = { pollId, accountId: accountOf(request), isKeyed: request.idempotencyKey !== null };
  const cancel = (): void => {
    if (!context.shutdown.ending.aborted) void cancelUnkeyed(context, left);
  };
  if (gone.aborted) cancel();
  else gone.addEventListener('abort', cancel, { once: true });
}

/** Null if the caller has no task with this id. */
export async function findTaskPoll(context: PollsContext, request: FastifyRequest, id: string): Promise<Poll | null> {
  const poll = isPollId(id) ? await findPoll(context.storage, id) : null;
  return poll && poll.entryPoint === MCP_POLL && poll.accountId === accountOf(request) ? poll : null;
}

export async function readPollTask(context: PollsContext, request: FastifyRequest, poll: Poll): Promise<PollTask> {
  if (poll.status === 'running') {
    const record = await context.bus.runs.read(poll.id).catch(() => null);
    const snapshot = record?.snapshot;
    return {
      ...stateOf(poll),
      statusMessage:
        snapshot?.status === 'running' ? progressSentence(snapshot, poll.spec.options) : 'The models are voting.',
    };
  }
  // While the storage is away this call fails and can be repeated: an error as the result would end the task.
  const stored = await findResultOfPoll(context.storage, poll.id);
  const why = stored ? null : await whyWithoutResult(context, poll.id, 'poll_execution_failed');
  const failure = stored?.detail.status === 'failed' ? whyFailed(stored.detail) : why;
  // If models had voted there is a result, which the caller has paid for, so the task counts as completed.
  if (failure?.code === 'poll_canceled') return { ...stateOf(poll), status: 'cancelled', statusMessage: CANCELED };
  const result = await toolResult({ context, request }, async () => {
    if (!stored) throw new ApiError(why!.code);
    return unlessFailed(stored.detail);
  });
  return { ...stateOf(poll), status: 'completed', result };
}

const CANCELED = 'The poll was canceled before any model had voted.';

const stateOf = ({ id, createdAt, finishedAt }: Poll): PollTask => ({
  taskId: id,
  status: 'working',
  createdAt: createdAt.toISOString(),
  lastUpdatedAt: (finishedAt ?? createdAt).toISOString(),
  ttlMs: null,
  pollIntervalMs: POLL_INTERVAL_MS,
});
