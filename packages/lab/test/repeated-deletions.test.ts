import { repeatDeletions } from '@eloquentpoll/storage';
import { asOwner } from '@eloquentpoll/testkit/database';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { keepRepeatingDeletions } from '@eloquentpoll/worker/repeated-deletions';
import t from 'tap';
import { wholeService } from './whole-service.ts';

// What a failover of Redis brings back of a deleted poll: its record, as a replica had it that had not got the deletion.

const MARK = 'Xylographic';
const service = await wholeService(t, { 1: 'AAAAA' });
const { app, gateway, worker, headers } = service;
const { redis, prefix } = gateway.bus;
const { storage } = worker.resources;
const sql = (text: string) => asOwner(service.settings.DATABASE_URL, text);
const recordOf = (id: string) => `${prefix}:{${id}}:run`;
const remembered = async () =>
  (await storage.db.selectFrom('deleted_runs').select('poll_id').execute()).map(({ poll_id }) => poll_id);

/** A poll that has ended, with its record in Redis. */
async function ended(): Promise<string> {
  const payload = {
    question: `Recorded question #1 (${MARK})`,
    options: ['A', 'B'],
    preset: 'fast',
    reasons: true,
    metadata: { mark: MARK },
  };
  const begun = await app.inject({ method: 'POST', url: '/api/polls', headers, payload });
  const { session_id: id } = begun.json();
  await eventually('its record says how it ended', async () =>
    ((await redis.hget(recordOf(id), 'snapshot')) ?? '').includes('"status":"completed"'),
  );
  return id;
}

async function remove(id: string): Promise<void> {
  const { statusCode } = await app.inject({ method: 'DELETE', url: `/api/results/${id}`, headers });
  t.equal(statusCode, 200);
  t.equal(await redis.exists(recordOf(id)), 0, 'it is gone at once');
}

t.test('a record that comes back is deleted again, by whichever worker lives then', async (t) => {
  const id = await ended();
  const record = await redis.dumpBuffer(recordOf(id));
  await remove(id);
  await redis.restore(recordOf(id), 600_000, record);
  t.same(await remembered(), [id]);

  const due = { afterMs: 30_000, limit: 10, forget: () => Promise.reject(new Error('Redis is away')) };
  await sql("update deleted_runs set deleted_at = now() + interval '1 day'");
  t.equal(await repeatDeletions(storage, due), 0, 'not before a failover of that time is over');
  await sql("update deleted_runs set deleted_at = now() - interval '30 seconds'");
  await t.rejects(repeatDeletions(storage, due), /Redis is away/);
  t.same(await remembered(), [id], 'until it succeeds');
  t.equal(await redis.exists(recordOf(id)), 1);

  const log = { warn: () => t.fail('nothing is warned of') };
  await using repeating = keepRepeatingDeletions(storage, worker.resources.redis, log, { everyMs: 20 });
  t.ok(repeating);
  await eventually('it was repeated', async () => (await remembered()).length === 0);
  t.equal(await redis.exists(recordOf(id)), 0);
});

t.test('a deletion of which Redis cannot have a record is not repeated', async (t) => {
  const id = await ended();
  await sql(`update polls set finished_at = finished_at - interval '61 minutes' where id = '${id}'`);
  await remove(id);
  t.same(await remembered(), []);
});
