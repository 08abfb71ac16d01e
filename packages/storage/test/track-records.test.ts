import { type AuditState, auditBook, EMPTY_BOOK } from '@eloquentpoll/evidence';
import t from 'tap';
import {
  countAudits,
  type Lesson,
  learnAudits,
  noteRosterVersion,
  type RosterVersion,
  readAudits,
  readTrackRecord,
  readTrackRecords,
  restartTrackRecord,
} from '../src/index.ts';
import { type Fixture, open, together } from './fixtures.ts';

const roster = (version: string): RosterVersion => ({
  version,
  panelName: 'broad',
  order: 'cheapest',
  search: false,
  simulated: true,
  models: [0, 1, 2, 3].map((n) => ({ modelId: `sim/m${n}`, family: `f${n}` })),
});

async function planted({ storage, query }: Fixture, version: string, count: number): Promise<void> {
  await noteRosterVersion(storage, roster(version));
  await query(
    `insert into audits (poll_id, roster_version, asked_order, threshold, option_count, seats, votes, said, stopped_at, winner)
     select $1 || n, $1, 'shuffled', 0.95, 2, '{0,1,2,3}', array[0, 0, null, case when n % 3 = 0 then 1 else 0 end],
            '{0.5,null,0.9}', 3, 0 from generate_series(1, $2::integer) n`,
    [version, count],
  );
}

const RULES = { panelSize: 4, threshold: 0.95, minVotes: 3 };

function taught({ state, entered, forgotten }: Lesson): AuditState {
  const book = auditBook(RULES, state ?? EMPTY_BOOK);
  for (const audit of entered) book.enter({ ...audit, families: ['f0', 'f1', 'f2', 'f3'] });
  for (const audit of forgotten) book.forget(audit);
  return book.state;
}

t.test('each audit is learned once and in its order, by however many processes; the window forgets', async (t) => {
  const fixture = await open(t);
  const { storage } = fixture;
  await planted(fixture, 'a', 130);
  await planted(fixture, 'b', 5);
  while (await countAudits(storage));
  const seen: bigint[] = [];
  const teach = (lesson: Lesson) => {
    seen.push(...lesson.entered.map(({ id }) => id));
    return taught(lesson);
  };
  await together(12, 4, () => learnAudits(storage, teach, { limit: 20, window: 100 }));
  while (await learnAudits(storage, teach, { limit: 20, window: 100 }));
  t.equal(seen.length, 135);
  t.equal(new Set(seen).size, 135);
  const kept = await readAudits(storage, { rosterVersion: 'a' });
  t.equal(kept.length, 100);
  t.match(kept.at(-1), { seats: [0, 1, 2, 3], votes: [0, 0, null, 0], said: [0.5, null, 0.9], stoppedAt: 3 });

  const record = (await readTrackRecord(storage, 'a'))!;
  t.equal(record.audits, 130);
  t.same(record.roster, roster('a'));
  t.equal(record.state.few.audits, 130, 'certificates count what the record has forgotten');
  t.same(record.state.situations['1 1 4'], [100, 100]);
  t.same(new Set((await readTrackRecords(storage)).map(({ roster }) => roster.version)), new Set(['a', 'b']));
  t.equal(await readTrackRecord(storage, 'c'), null);
});

t.test('a record is rebuilt from the audits that are kept, or starts without them', async (t) => {
  const fixture = await open(t);
  const { storage } = fixture;
  await planted(fixture, 'a', 40);
  await learnAudits(storage, taught);
  const before = (await readTrackRecord(storage, 'a'))!.state;
  t.equal(await learnAudits(storage, taught), false, 'nothing new');
  t.equal(await restartTrackRecord(storage, 'a'), true);
  t.equal(await readTrackRecord(storage, 'a'), null);
  await learnAudits(storage, taught);
  t.same((await readTrackRecord(storage, 'a'))!.state, before);

  t.equal(await restartTrackRecord(storage, 'a', { forget: true }), true);
  t.equal(await learnAudits(storage, taught), false);
  t.same(await readAudits(storage, { rosterVersion: 'a' }), []);
  t.equal(await restartTrackRecord(storage, 'nothing'), false);
});
