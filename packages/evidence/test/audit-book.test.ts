import { decide, launched, newPoll, received, seededRandom } from '@eloquentpoll/voting';
import t from 'tap';
import { type AuditBook, type AuditedPoll, auditBook } from '../src/audit-book.ts';

const RULES = { panelSize: 9, threshold: 0.95, minVotes: 3 };
const FAMILIES = [...'abcdefghi'];
const audit = (votes: readonly (number | null)[], optionCount = 4): AuditedPoll => ({
  optionCount,
  votes,
  families: FAMILIES,
});

const UNANIMOUS = audit([0, 0, 0, 0, 0, 0, 0, 0, 0]);
/** Four cheap models agree, and the panel elects another option. */
const MISLED = audit([0, 0, 0, 0, 1, 1, 1, 1, 1]);

/** A record that is always empty: the urn alone. */
function withoutMemory(): AuditBook {
  const book = auditBook(RULES);
  const enter = (poll: AuditedPoll) => {
    book.enter(poll);
    book.forget(poll);
  };
  return Object.defineProperties({} as AuditBook, {
    ...Object.getOwnPropertyDescriptors(book),
    enter: { value: enter },
  });
}

t.test('audits certify an order that is right, apart for few options', async (t) => {
  const book = auditBook(RULES);
  for (let i = 0; i < 300; i++) book.enter(UNANIMOUS);
  t.same(book.certificates.manyOptions, { audits: 300, isCertified: true, isAlarmed: false });
  t.same(book.certificates.fewOptions, { audits: 0, isCertified: false, isAlarmed: false });
  book.enter(audit([1, 1, 1, 1, 1, 1, 1, 1, 1], 2));
  t.equal(book.certificates.fewOptions.audits, 1);
  t.same(book.stops, { trials: 301, hits: 0 });
});

t.test('a poll is judged by the record of those before it', async (t) => {
  const book = auditBook(RULES);
  for (let i = 0; i < 40; i++) book.enter(MISLED);
  const { trials, hits } = book.stops;
  t.ok(hits >= 1 && trials < 20, `${hits} of ${trials}: the record soon keeps the misled polls open`);
  t.equal(book.record.situations.get('4 4 4')?.won, 0);
});

t.test('polls that mislead a record without memory raise the alarm, which the record carries', async (t) => {
  const book = withoutMemory();
  for (let i = 0; i < 100; i++) book.enter(MISLED);
  t.equal(book.certificates.manyOptions.isAlarmed, true);
  t.equal(book.certificates.manyOptions.isCertified, false);
  t.equal(book.record.isAlarmed, true);
});

t.test('the record forgets, the certificates do not', async (t) => {
  const book = auditBook(RULES);
  for (let i = 0; i < 200; i++) book.enter(UNANIMOUS);
  for (let i = 0; i < 190; i++) book.forget(UNANIMOUS);
  t.equal(book.record.situations.get('3 3 4')?.polls, 10);
  t.equal(book.certificates.manyOptions.audits, 200);
});

t.test('a model that turns bad after a thousand good polls is noticed', async (t) => {
  const book = withoutMemory();
  const draw = seededRandom('turn');
  for (let i = 0; i < 1_000; i++) book.enter(draw(100) < 1 ? MISLED : UNANIMOUS);
  t.equal(book.certificates.manyOptions.isAlarmed, false);
  let until = 0;
  while (!book.certificates.manyOptions.isAlarmed && until < 2_000) {
    book.enter(draw(100) < 40 ? MISLED : UNANIMOUS);
    until += 1;
  }
  t.ok(until < 2_000, `after ${until} audits`);
});

t.test('the record that comes out brakes a live poll', async (t) => {
  const book = auditBook(RULES);
  for (let i = 0; i < 100; i++) book.enter(MISLED);
  const seats = FAMILIES.map((family) => ({ family, reserveU: 0n, failureRate: 0 }));
  const rules = { optionCount: 4, threshold: 0.95, minVotes: 3, maxCostU: 0n, hedge: 'one' as const };
  const stopsAfterFour = (record?: typeof book.record) => {
    let poll = launched(newPoll({ ...rules, ...(record && { record }) }, seats), [0, 1, 2, 3]);
    for (const seat of [0, 1, 2, 3]) poll = received(poll, { seat, option: 0, billedU: 0n });
    return decide(poll, { slow: false }).kind === 'stop';
  };
  t.equal(stopsAfterFour(), true);
  t.equal(stopsAfterFour(book.record), false);
});

t.test('a book goes on where its state says, and its state is plain JSON', async (t) => {
  const draw = seededRandom('resume');
  const audits = Array.from({ length: 700 }, () => (draw(100) < 6 ? MISLED : UNANIMOUS));
  const whole = auditBook(RULES);
  let parts = auditBook(RULES);
  for (const [i, each] of audits.entries()) {
    whole.enter(each);
    parts.enter(each);
    if (i % 37 === 0) parts = auditBook(RULES, JSON.parse(JSON.stringify(parts.state)) as typeof parts.state);
  }
  t.same(parts.state, whole.state);
  t.same(parts.record, whole.record);
});

/** Locked with two seats unheard, and never sure enough before. */
const LOCKED = audit([0, 1, 0, 1, 0, 0, 0]);

t.test('a lock ends a poll with seats unheard: it is audited, and no stop that could be wrong', async (t) => {
  const book = auditBook(RULES);
  book.enter(LOCKED);
  t.same(book.stops, { trials: 0, hits: 0 });
  t.equal(book.certificates.manyOptions.audits, 1);
  t.equal(book.record.situations.get('1 1 4')?.won, 1, 'the record learns from it');
});

t.test('a panel so small that nothing but a lock stops it early is certified by its locks', async (t) => {
  const book = auditBook({ ...RULES, panelSize: 5 });
  const five = { optionCount: 4, families: FAMILIES.slice(0, 5) };
  for (let i = 0; i < 300; i++) book.enter({ ...five, votes: i % 2 ? [0, 0, 0, 1, 1] : [0, 1, 0, 0] });
  t.same(book.stops, { trials: 300, hits: 0 });
  t.equal(book.certificates.manyOptions.isCertified, true);
});

t.test('wrong stops raise the alarm as soon among many locks as without them', async (t) => {
  const [alone, diluted] = [withoutMemory(), withoutMemory()];
  for (let i = 0; i < 60; i++) {
    for (const book of [alone, diluted]) book.enter(i % 4 === 0 ? MISLED : UNANIMOUS);
    for (let locks = 0; locks < 3; locks++) diluted.enter(LOCKED);
  }
  t.same(alone.stops, { trials: 60, hits: 15 });
  t.same(diluted.stops, alone.stops);
  t.equal(diluted.certificates.manyOptions.isAlarmed, true);
});

t.test('what a book remembers of stops is bounded, and it still sees a model turn bad', async (t) => {
  const book = withoutMemory();
  for (let i = 0; i < 6_000; i++) book.enter(UNANIMOUS);
  t.equal(book.certificates.manyOptions.isAlarmed, false);
  for (let i = 0; i < 60; i++) book.enter(MISLED);
  t.equal(book.certificates.manyOptions.isAlarmed, true);
});
