import t from 'tap';
import {
  isPollId,
  isResultId,
  newPollId,
  newResultId,
  pollIdsOfMonth,
  pollIdsSince,
  pollIdsUntil,
} from '../src/index.ts';

// A result id is the permission to read the result, so ids are as random as they look: none comes twice, every character
// is as likely at every place, and one says nothing about the next.

const COUNT = process.env.ATTACKS === 'full' ? 2_000_000 : 20_000;
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

for (const [name, next] of Object.entries({
  results: () => newResultId().slice('EP-2026-01-01-0'.length),
  polls: () => newPollId().slice('ps_000'.length),
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

t.test('[§A6-result-id-secret] an id names its kind, and a result id the UTC day', async (t) => {
  t.match(newResultId('0', new Date('2026-11-20T23:59:59.999Z')), /^EP-2026-11-20-[0-9a-hjkmnp-tv-z]{16}$/);
  t.match(newPollId(), /^ps_[0-9a-hjkmnp-tv-z]{24}$/);
  t.match(
    [newResultId('b'), newPollId('b')],
    [/^EP-\d{4}-\d\d-\d\d-b[0-9a-hjkmnp-tv-z]{15}$/, /^ps_..b/],
    'and its cell',
  );
  t.match([newResultId(), newPollId()], [/-0[^-]+$/, /^ps_..0/], 'the first one, where there is one');
  t.same([isPollId(newPollId()), isResultId(newPollId())], [true, false]);
  t.same([isPollId(newResultId()), isResultId(newResultId())], [false, true]);
});

t.test('ids of polls begin with their UTC month, in the order of the months', (t) => {
  const months = Array.from({ length: 12 * 80 }, (_, n) => new Date(Date.UTC(2020, n)));
  const starts = months.map(pollIdsOfMonth);
  t.same(starts.toSorted(), starts);
  t.equal(new Set(starts).size, starts.length);
  for (const month of ['2026-10-31T23:59:59.999Z', '2026-11-01T00:00:00Z', '2026-11-30T23:59:59Z'].map(
    (at) => new Date(at),
  ))
    t.ok(newPollId('0', month).startsWith(pollIdsOfMonth(month)));
  t.not(pollIdsOfMonth(new Date('2026-10-31T23:59:59.999Z')), pollIdsOfMonth(new Date('2026-11-01T00:00:00Z')));
  t.end();
});

t.test('bounds of ids are in the order of their times, whatever the years', (t) => {
  const times = [0, 1970, 2019, 2020, 2026, 2104, 2105, 2106, 2150, 9999].map((year) => {
    const at = new Date(0);
    at.setUTCFullYear(year, 0, 1);
    return at;
  });
  for (const bound of [pollIdsOfMonth, pollIdsSince, pollIdsUntil]) {
    const bounds = times.map(bound);
    t.same(bounds.toSorted(), bounds, bound.name);
    t.match([bounds[0], bounds.at(-1)], ['ps_00', 'ps_zz']);
  }
  t.end();
});
