import t from 'tap';
import { newPollId, newResultId } from '../../src/polls/order/poll-ids.ts';
import { times } from './full-scale.ts';

// Whoever holds a result id may read the result, so ids are as random as they look: none comes twice, every character is
// as likely at every place, and one says nothing about the next.

const COUNT = times(20_000, 2_000_000);
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

for (const [name, next] of Object.entries({
  results: () => newResultId(new Date()).slice('EP-2026-01-01-'.length),
  sessions: () => newPollId().slice('ps_'.length),
})) {
  t.test(`ids of ${name}`, async (t) => {
    const seen = new Set<string>();
    const length = next().length;
    const counts = Array.from({ length }, () => new Map<string, number>());
    let same = 0;
    let before = next();
    for (let i = 0; i < COUNT; i++) {
      const id = next();
      seen.add(id);
      for (let place = 0; place < length; place++) {
        const char = id[place]!;
        counts[place]!.set(char, (counts[place]!.get(char) ?? 0) + 1);
        if (char === before[place]) same += 1;
      }
      before = id;
    }
    t.equal(seen.size, COUNT, 'none comes twice');
    const due = COUNT / ALPHABET.length;
    for (const [place, chars] of counts.entries()) {
      t.equal(chars.size, ALPHABET.length, `place ${place} uses the whole alphabet`);
      const chiSquare = [...chars.values()].reduce((sum, count) => sum + (count - due) ** 2 / due, 0);
      // 31 degrees of freedom: above 100 comes once in a billion.
      t.ok(chiSquare < 100, `place ${place}: chi-square ${chiSquare.toFixed(1)}`);
    }
    const likely = (COUNT * length) / ALPHABET.length;
    t.ok(Math.abs(same - likely) < 7 * Math.sqrt(likely), 'an id is no more like the one before it than chance has it');
  });
}
