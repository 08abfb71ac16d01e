import { readRosterVersions, readTrackRecords, recountAudits, restartTrackRecord } from '@eloquentpoll/storage';
import { withDatabase } from './database-failure.ts';

// Lists the track records of panels, one per line. `rebuild VERSION` makes the workers recompute one from the stored
// audits within a minute. `restart VERSION` deletes those audits and starts over: the way out of an alarm. `recount`
// recomputes the published sums of all months whose audits are all still stored.

const [, , action, version, ...others] = process.argv;
const { DATABASE_URL: databaseUrl } = process.env;
const ACTIONS = ['rebuild', 'restart', 'recount'];
if (action !== undefined && !ACTIONS.includes(action))
  refuse(`${action} is not known: use rebuild, restart, recount or nothing`);
if (action === 'recount' ? version !== undefined : action !== undefined && (version === undefined || others.length > 0))
  refuse(action === 'recount' ? 'recount takes no roster version' : `write one roster version: ${action} VERSION`);
if (!databaseUrl) refuse('DATABASE_URL is not set: give it a value such as postgres://user:password@host:5432/name');

await withDatabase('track-records', { databaseUrl, maxConnections: 1 }, async (storage) => {
  if (action === 'recount') {
    console.error(`${await recountAudits(storage)} sums are made again`);
  } else if (action === undefined || version === undefined) {
    const records = new Map((await readTrackRecords(storage)).map((record) => [record.roster.version, record]));
    for (const roster of await readRosterVersions(storage)) {
      const { audits = 0, state } = records.get(roster.version) ?? {};
      const { few, many } = state ?? {};
      const isAlarmed = few?.isAlarmed === true || many?.isAlarmed === true;
      const { version: roster_version, panelName: panel, order, search, createdAt: since } = roster;
      console.log(JSON.stringify({ roster_version, panel, order, search, audits, alarm: isAlarmed, few, many, since }));
    }
  } else if ((await readRosterVersions(storage)).some((roster) => roster.version === version)) {
    await restartTrackRecord(storage, version, { forget: action === 'restart' });
    console.error(`${version}: ${action === 'restart' ? 'begins again without audits' : 'is learned again'}`);
  } else {
    console.error(`track-records: there is no roster version ${version}`);
    process.exitCode = 1;
  }
});

function refuse(why: string): never {
  console.error(`track-records: ${why}`);
  process.exit(2);
}
