import t from 'tap';
import { firing, type SampleSeries } from '../src/attacks/alarm-expression.ts';

// Alarms whose expressions are easily wrong, over what two scrapes found.

t.test(
  'the alarm about the free pool fires where polls are refused for it, and not for a pool that is held or closed',
  async (t) => {
    const refused = (reason: string, polls: number): SampleSeries => {
      const labels = { reason, namespace: 'a' };
      return { name: 'eloquentpoll_polls_refused_total', labels, before: 7, after: 7 + polls };
    };
    const calm = ['free_held', 'free_closed', 'insufficient'].map((reason) => refused(reason, 100));
    t.same(firing('FreePoolEmpty', [...calm, refused('free_spent', 0)]), []);
    t.match(firing('FreePoolEmpty', [...calm, refused('free_spent', 1)]), [{ labels: { namespace: 'a' }, value: 1 }]);
  },
);
