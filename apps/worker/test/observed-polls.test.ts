import t from 'tap';
import { countedReasonOf } from '../src/ops/observed-polls.ts';

t.test('polls that their caller canceled count apart from polls that failed', (t) => {
  t.equal(countedReasonOf({ code: 'poll_canceled', termination_reason: null }), 'canceled');
  t.equal(countedReasonOf({ termination_reason: null }), 'deadline');
  t.equal(countedReasonOf({ code: 'budget_too_small', termination_reason: 'budget' }), 'budget');
  t.equal(countedReasonOf({ termination_reason: 'mathematical_lock' }), 'mathematical_lock');
  t.end();
});
