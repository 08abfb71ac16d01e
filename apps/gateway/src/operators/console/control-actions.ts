import { type Controls, setControl } from '@eloquentpoll/storage';
import type { OperatorAction } from './operator-action.ts';

// One row in Postgres, read by the statement that accepts a poll, so it applies at all gateways from the next poll.

const control = (label: string, name: keyof Controls, isStopped: boolean): OperatorAction => ({
  label,
  subject: null,
  fields: [],
  async perform({ storage }) {
    const isChanged = await setControl(storage, name, isStopped);
    return { outcome: !isChanged ? 'gone' : isStopped ? 'stopped' : 'resumed' };
  },
});

export const stopFree = control('Stop free polls', 'freePollsStopped', true);
export const resumeFree = control('Accept free polls again', 'freePollsStopped', false);
export const stopAll = control('Stop all polls', 'pollsStopped', true);
export const resumeAll = control('Accept polls again', 'pollsStopped', false);
