import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { preferredWait } from '../../src/http/validation/preferred-wait.ts';

t.test('[§A6-status-prefer-wait] a preference is read as RFC 7240 writes it', async (t) => {
  const read: [string | undefined, number | null][] = [
    [undefined, null],
    ['', null],
    ['wait=10', 10],
    ['wait=0', 0],
    ['wait=030', 30],
    ['wait=31', 30],
    ['wait=99999999999999999999', 30],
    ['Wait=10', 10],
    ['WAIT = 10', 10],
    ['wait="10"', 10],
    ['\twait\t=\t"10"\t;\tx', 10],
    ['wait=10 ; x', 10],
    ['wait=10 ', 10],
    ['respond-async, wait=10', 10],
    ['respond-async,wait=10, handling=lenient', 10],
    ['wait=10; foo="a,b"; bar', 10],
    ['foo="x, wait=5", wait=7', 7],
    ['foo="a\\", wait=5", wait=7', 7],
    [' , ,wait=3', 3],
    // Only the first counts, and what cannot be read is no preference.
    ['wait=5, wait=9', 5],
    ['wait=soon, wait=9', null],
    ['wait', null],
    ['wait=', null],
    ['wait= ', null],
    ['wait=""', null],
    ['wait="" ; x', null],
    ['wait=; x', null],
    ['wait ; x', null],
    ['wait=1 0', null],
    ['wait=-1', null],
    ['wait=1.5', null],
    ['wait=1e3', null],
    ['wait="10', null],
    ['wait=10"', null],
    ['await=10', null],
    ['wait-10', null],
    ['x-wait=10', null],
  ];
  for (const [header, seconds] of read) t.equal(preferredWait(header, 30), seconds, String(header));
});

t.test('any header is read, in time that grows with its length only', async (t) => {
  const hard = [
    '"'.repeat(16_000),
    '\\'.repeat(16_000),
    ',"\\'.repeat(5_000),
    `wait=${';'.repeat(16_000)}`,
    ' '.repeat(16_000),
    // As long as it takes to see it: where each length of one run is tried with each of another, this takes minutes.
    ...['wait', 'wait=', 'wait="', 'wait=1', 'wait="1"'].map((start) => `${start}${' '.repeat(600_000)}x`),
    `wait=${'1'.repeat(600_000)}x`,
  ];
  for (const header of hard) preferredWait(header, 30);
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'wait=,;"\\ 019x\t') }), (header) => {
      const seconds = preferredWait(header, 30);
      return seconds === null || (Number.isInteger(seconds) && seconds >= 0 && seconds <= 30);
    }),
  );
  t.pass('no header throws or gives seconds outside 0 to 30');
});
