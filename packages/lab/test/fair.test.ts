import t from 'tap';
import { besideBusyAccount } from '../src/bench/rows/fair.ts';
import { holdsOnBench } from './fixtures/short-bench.ts';

// slow: 40 s
// alone: a neighbour's polls beside a busy account are compared with those before it

t.test('a neighbour of an account that sends all it can does not notice it', (t) => holdsOnBench(t, besideBusyAccount));
