import t from 'tap';
import { verdictLine } from '../src/terminal/verdict-line.ts';

t.test('the last line of a command names what did not hold', async (t) => {
  t.equal(verdictLine([]), 'everything held');
  t.equal(verdictLine(['keys', 'workers']), 'did NOT hold: keys; workers');
});
