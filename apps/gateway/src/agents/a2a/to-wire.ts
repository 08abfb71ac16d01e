import type { PollResponse } from '@eloquentpoll/contracts';
import type { Config } from '../../config/config.ts';
import { publicResultUrl } from '../../polls/read/to-wire.ts';
import { untrustedFields } from '../untrusted-fields.ts';
import type { TaskList } from './list-tasks.ts';
import type { A2aVersion } from './methods.ts';
import { type Task, type TaskNames, taskText } from './task.ts';

// Serialises tasks and their changes for three protocol versions, which differ in the names of parts, roles and states.

type Part = { text: string } | { data: object };
type Wire = Record<string, unknown>;

interface VersionForm {
  part(part: Part): object;
  role: string;
  state(state: Task['state']): string;
}

const FORMS: Readonly<Record<A2aVersion, VersionForm>> = {
  '0.1': { part: (part) => ({ type: kindOf(part), ...part }), role: 'agent', state: (state) => state },
  '0.3': { part: (part) => ({ kind: kindOf(part), ...part }), role: 'agent', state: (state) => state },
  '1.0': {
    part: (part) => ('data' in part ? { ...part, mediaType: 'application/json' } : part),
    role: 'ROLE_AGENT',
    state: (state) => `TASK_STATE_${state.toUpperCase()}`,
  },
};

const kindOf = (part: Part): string => ('data' in part ? 'data' : 'text');

/** Only version 0.3 states the kind of an object. */
const kind = (version: A2aVersion, name: string) => version === '0.3' && { kind: name };

export function toWireTask(config: Config, version: A2aVersion, task: Task): Wire {
  const { id, state, at, result } = task;
  return {
    id,
    ...contextOf(version, task),
    ...kind(version, 'task'),
    status: toWireStatus(version, task, { state, at, text: taskText(task), messageId: `${id}-${state}` }),
    ...(result && {
      artifacts: [toWireArtifact(version, result)],
      metadata: { poll_id: result.poll_id, result_url: publicResultUrl(config, result.poll_id) },
    }),
  };
}

/** Tasks listed without artifacts omit the status message too, because it contains the verdict. */
export function toWireList(config: Config, { tasks, total, nextPageToken, includeArtifacts }: TaskList): Wire {
  return {
    tasks: tasks.map((task) => {
      const wire = toWireTask(config, '1.0', task);
      if (includeArtifacts) return { ...wire, artifacts: wire.artifacts ?? [] };
      return { ...wire, status: { state: FORMS['1.0'].state(task.state), timestamp: task.at.toISOString() } };
    }),
    totalSize: total,
    pageSize: tasks.length,
    nextPageToken,
  };
}

interface StatusParts {
  state: Task['state'];
  at: Date;
  text: string;
  messageId: string;
}

function toWireStatus(version: A2aVersion, names: TaskNames, { state, at, text, messageId }: StatusParts): Wire {
  const form = FORMS[version];
  return {
    state: form.state(state),
    message: {
      role: form.role,
      parts: [form.part({ text })],
      ...(version !== '0.1' && {
        messageId,
        taskId: names.id,
        ...contextOf(version, names),
        ...kind(version, 'message'),
      }),
    },
    timestamp: at.toISOString(),
  };
}

function toWireArtifact(version: A2aVersion, result: PollResponse): Wire {
  const form = FORMS[version];
  const untrusted = untrustedFields(result);
  return {
    name: 'poll_result',
    ...(version === '0.1' ? { index: 0 } : { artifactId: result.poll_id }),
    parts: [form.part({ data: result }), form.part({ text: result.outcome })],
    ...(untrusted.length > 0 && { metadata: { untrusted } }),
  };
}

function contextOf(version: A2aVersion, { id, contextId }: TaskNames): Wire {
  if (version !== '0.1') return { contextId: contextId ?? id };
  return contextId === null ? {} : { sessionId: contextId };
}

/** A task as a stream event. Version 1.0 wraps each kind of event in its own member and does not mark the last one. */
export const toStreamedTask = (config: Config, version: A2aVersion, task: Task): Wire => {
  const wire = toWireTask(config, version, task);
  return version === '1.0' ? { task: wire } : wire;
};

export function toStreamedStatus(
  version: A2aVersion,
  names: TaskNames,
  { metadata, ...status }: StatusParts & { metadata?: Wire },
): Wire {
  const event = {
    taskId: names.id,
    ...contextOf(version, names),
    status: toWireStatus(version, names, status),
    ...(metadata && { metadata }),
  };
  if (version === '1.0') return { statusUpdate: event };
  return { ...kind(version, 'status-update'), ...event, final: status.state !== 'working' };
}

export function toStreamedArtifact(version: A2aVersion, names: TaskNames, result: PollResponse): Wire {
  const event = {
    taskId: names.id,
    ...contextOf(version, names),
    artifact: toWireArtifact(version, result),
    append: false,
    lastChunk: true,
  };
  return version === '1.0' ? { artifactUpdate: event } : { ...kind(version, 'artifact-update'), ...event };
}
