import t from 'tap';
import { sharesOfAccounts } from '../src/bench/rows/fair.ts';
import { holdsOnStage } from './fixtures/short-bench.ts';

// slow: 15 s

t.test('accounts that send unequal loads get equal shares', (t) => holdsOnStage(t, sharesOfAccounts));
