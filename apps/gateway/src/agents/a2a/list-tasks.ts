import type { PollStatus } from '@eloquentpoll/contracts';
import { isPollId } from '@eloquentpoll/polls';
import { findResultsOfPolls, listTaskPolls, type TaskFilter, type TaskPosition } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../../polls/context.ts';
import type { A2aCall } from './read-call.ts';
import { namesOf, type Task, taskOf } from './task.ts';
import { readName } from './task-ids.ts';

// ListTasks of version 1.0, with cursors. Tasks that a caller of version 0.1 named are listed under our id.

export interface TaskList {
  tasks: Task[];
  total: number;
  /** Empty on the last page. */
  nextPageToken: string;
  includeArtifacts: boolean;
}

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 100;

export async function listTasks(context: PollsContext, accountId: string, { params }: A2aCall): Promise<TaskList> {
  const limit = integerIn(params.pageSize, 'pageSize', 1, MAX_PAGE_SIZE) ?? DEFAULT_PAGE_SIZE;
  // Validated but unused, because tasks keep no history.
  integerIn(params.historyLength, 'historyLength', 0, Number.MAX_SAFE_INTEGER);
  const includeArtifacts = params.includeArtifacts === true;
  const status = readStatus(params.status);
  const filter: TaskFilter = {
    contextId: readName(params.contextId, 'contextId') ?? undefined,
    changedSince: readTime(params.statusTimestampAfter),
    status: status === 'any' || status === 'canceled' ? undefined : (status ?? undefined),
    isCanceled: status === 'canceled' ? true : status === 'completed' || status === 'failed' ? false : undefined,
  };
  const after = readPageToken(params.pageToken);
  if (status === null) return { tasks: [], total: 0, nextPageToken: '', includeArtifacts };

  const { polls, total, last } = await listTaskPolls(context.storage, accountId, filter, { limit, after });
  const results = includeArtifacts
    ? await findResultsOfPolls(
        context.storage,
        polls.map(({ id }) => id),
      )
    : [];
  const resultOf = new Map(results.map(({ pollId, detail }) => [pollId, detail]));
  return {
    tasks: polls.map((poll) => taskOf(poll, resultOf.get(poll.id) ?? null, namesOf(poll))),
    total,
    nextPageToken: last ? toPageToken(last) : '',
    includeArtifacts,
  };
}

type Status = PollStatus | 'canceled' | 'any' | null;

const STATUSES: Readonly<Record<string, Status>> = {
  TASK_STATE_UNSPECIFIED: 'any',
  TASK_STATE_WORKING: 'running',
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_CANCELED: 'canceled',
  // Valid states that our tasks never have.
  TASK_STATE_SUBMITTED: null,
  TASK_STATE_INPUT_REQUIRED: null,
  TASK_STATE_REJECTED: null,
  TASK_STATE_AUTH_REQUIRED: null,
};

/** Null for a state that our tasks never have. */
function readStatus(status: unknown): Status {
  if (status === undefined || status === '') return 'any';
  if (typeof status !== 'string' || !Object.hasOwn(STATUSES, status)) {
    throw wrong(`status must be one of ${Object.keys(STATUSES).join(', ')}.`);
  }
  return STATUSES[status] ?? null;
}

function integerIn(value: unknown, field: string, min: number, max: number): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (Number.isInteger(value) && Number(value) >= min && Number(value) <= max) return Number(value);
  throw wrong(
    `${field} must be an integer of at least ${min}${max === Number.MAX_SAFE_INTEGER ? '' : ` and at most ${max}`}.`,
  );
}

function readTime(value: unknown): Date | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const time = typeof value === 'string' && ISO_TIME.test(value) ? new Date(value) : null;
  if (time && !Number.isNaN(time.getTime())) return time;
  throw wrong('statusTimestampAfter must be a time such as 2026-11-20T12:00:00Z.');
}

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

const toPageToken = ({ changedUs, pollId }: TaskPosition): string =>
  Buffer.from(`${changedUs} ${pollId}`).toString('base64url');

function readPageToken(token: unknown): TaskPosition | undefined {
  if (token === undefined || token === null || token === '') return undefined;
  const [changedUs = '', pollId = '', ...more] =
    typeof token === 'string' ? Buffer.from(token, 'base64url').toString().split(' ') : [];
  if (/^\d{1,17}$/.test(changedUs) && isPollId(pollId) && more.length === 0) {
    return { changedUs: BigInt(changedUs), pollId };
  }
  throw wrong('pageToken must be the nextPageToken of an answer.');
}

const wrong = (detail: string): ApiError => new ApiError('invalid_task_input', { detail });
