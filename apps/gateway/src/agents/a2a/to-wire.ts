import type { Config } from '../../config/config.ts';
import { publicResultUrl } from '../../polls/read/to-wire.ts';
import { untrustedFields } from '../untrusted-fields.ts';
import type { A2aVersion } from './read-call.ts';
import { type Task, taskText } from './task.ts';

// Serialises a task for three protocol versions, which differ in the names of parts, roles and states.

type Part = { text: string } | { data: object };

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

export function toWireTask({ baseUrl }: Config, version: A2aVersion, task: Task): Record<string, unknown> {
  const form = FORMS[version];
  const { id, contextId, state, at, result } = task;
  const early = version === '0.1';
  const kind = (name: string) => version === '0.3' && { kind: name };
  const parts = [form.part({ text: taskText(task) })];
  const contextFields = early ? contextId !== null && { sessionId: contextId } : { contextId: contextId ?? id };
  const untrusted = result ? untrustedFields(result) : [];
  return {
    id,
    ...contextFields,
    ...kind('task'),
    status: {
      state: form.state(state),
      message: {
        role: form.role,
        parts,
        ...(!early && { messageId: `${id}-${state}`, taskId: id, ...contextFields, ...kind('message') }),
      },
      timestamp: at.toISOString(),
    },
    ...(result && {
      artifacts: [
        {
          name: 'poll_result',
          ...(early ? { index: 0 } : { artifactId: result.poll_id }),
          parts: [form.part({ data: result }), form.part({ text: result.outcome })],
          ...(untrusted.length > 0 && { metadata: { untrusted } }),
        },
      ],
      metadata: { poll_id: result.poll_id, result_url: publicResultUrl({ baseUrl }, result.poll_id) },
    }),
  };
}
