import t from 'tap';
import { sharesOfAccounts } from '../src/bench/rows/fair.ts';
import { holdsOnBench } from './fixtures/short-bench.ts';

// slow: 15 s

t.test('accounts that send unequal loads get equal shares', (t) => holdsOnBench(t, sharesOfAccounts));
