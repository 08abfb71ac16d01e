import { readFileSync } from 'node:fs';
import t from 'tap';
import { recordedPoll } from './recorded-decisions.ts';

t.test('without order and record every decision, confidence and estimate is the one that was recorded', async (t) => {
  const file = readFileSync(new URL('./vectors/decisions.txt', import.meta.url), 'utf8');
  const polls = file.trimEnd().split('\n\n');
  t.equal(polls.length, 120);
  for (const [i, recorded] of polls.entries()) {
    const now = recordedPoll(`recorded ${i}`).join('\n');
    if (now !== recorded) t.equal(now, recorded);
  }
  t.pass('120 polls to the last bit');
});
