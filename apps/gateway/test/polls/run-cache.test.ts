import t from 'tap';
import { runCache } from '../../src/polls/read/run-cache.ts';

const stored = (place: number, status: 'running' | 'completed' = 'completed') => ({
  pollId: `ps_${place}`,
  accountId: 'account',
  status,
  resultId: status === 'running' ? null : `EP-${place}`,
});

t.test('what is out of date is let go, however many entries there may be', (t) => {
  let clock = 0;
  const runs = runCache(() => clock);
  for (let place = 0; place < 1_000; place++) {
    clock += 1_000;
    runs.store(stored(place));
    runs.store(stored(100_000 + place, 'running'));
  }
  t.ok(runs.size() < 70, `${runs.size()} entries after 1,000 s with two runs each second`);
  t.match(runs.ended('ps_999'), { resultId: 'EP-999' });
  t.match(runs.ended('ps_950'), { resultId: 'EP-950' });
  t.equal(runs.ended('ps_900'), undefined);
  t.end();
});

t.test('an entry that is read again keeps none behind it', (t) => {
  let clock = 0;
  const runs = runCache(() => clock);
  for (let place = 1; place < 500; place++) {
    clock += 1_000;
    runs.store(stored(0));
    runs.store(stored(place));
  }
  t.ok(runs.size() < 70, `${runs.size()}`);
  t.match(runs.ended('ps_0'), { resultId: 'EP-0' });
  t.end();
});

t.test('a deleted poll stays deleted for as long as another answer about it may be on its way', (t) => {
  let clock = 0;
  const runs = runCache(() => clock);
  runs.store(stored(1));
  runs.forget('ps_1');
  runs.store(stored(1));
  t.match(runs.ended('ps_1'), { accountId: null, resultId: null });
  clock += 60_000;
  t.equal(runs.ended('ps_1'), undefined);
  runs.store(stored(2));
  t.equal(runs.size(), 1);
  t.end();
});
