import type { Config } from '../../config/config.ts';
import type { Dialect } from './read-call.ts';
import { sentence, type Task } from './task.ts';

// One task in the words of three generations of the protocol. They agree about what a task is; each has its own names
// for parts, roles and states.

type Part = { text: string } | { data: object };

interface Words {
  part(part: Part): object;
  role: string;
  state(state: Task['state']): string;
}

const WORDS: Readonly<Record<Dialect, Words>> = {
  '0.1': { part: (part) => ({ type: kindOf(part), ...part }), role: 'agent', state: (state) => state },
  '0.3': { part: (part) => ({ kind: kindOf(part), ...part }), role: 'agent', state: (state) => state },
  '1.0': {
    part: (part) => ('data' in part ? { ...part, mediaType: 'application/json' } : part),
    role: 'ROLE_AGENT',
    state: (state) => `TASK_STATE_${state.toUpperCase()}`,
  },
};

const kindOf = (part: Part): string => ('data' in part ? 'data' : 'text');

export function toWireTask({ baseUrl }: Config, dialect: Dialect, task: Task): Record<string, unknown> {
  const words = WORDS[dialect];
  const { id, contextId, state, at, result } = task;
  const early = dialect === '0.1';
  const kind = (name: string) => dialect === '0.3' && { kind: name };
  const said = [words.part({ text: sentence(task) })];
  const home = early ? contextId !== null && { sessionId: contextId } : { contextId: contextId ?? id };
  return {
    id,
    ...home,
    ...kind('task'),
    status: {
      state: words.state(state),
      message: {
        role: words.role,
        parts: said,
        ...(!early && { messageId: `${id}-${state}`, taskId: id, ...home, ...kind('message') }),
      },
      timestamp: at.toISOString(),
    },
    ...(result && {
      artifacts: [
        {
          name: 'poll_result',
          ...(early ? { index: 0 } : { artifactId: result.poll_id }),
          parts: [words.part({ data: result }), words.part({ text: result.outcome })],
        },
      ],
      metadata: { poll_id: result.poll_id, result_url: `${baseUrl}/api/results/${result.poll_id}` },
    }),
  };
}
