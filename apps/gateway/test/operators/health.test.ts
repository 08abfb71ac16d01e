import t from 'tap';
import packageJson from '../../package.json' with { type: 'json' };
import { build } from '../fixtures/build.ts';

t.test(
  '[§4.7-health, §2.10-status, §2.10-db-ok, §2.10-version, §2.10-git-commit, §2.10-timestamp, §9-health-version] GET /api/health has status, db, version, commit and time',
  async (t) => {
    const { app } = await build(t, { gitCommit: 'abcdef123456' });
    const answer = await app.inject({ url: '/api/health' });
    t.equal(answer.statusCode, 200);
    t.equal(answer.headers['cache-control'], 'no-store');
    const { timestamp, ...health } = answer.json();
    t.same(health, { status: 'ok', db: 'ok', version: packageJson.version, git_commit: 'abcdef123456' });
    t.ok(Math.abs(Date.parse(timestamp) - Date.now()) < 60_000);
  },
);

t.test('[§2.10-db-error] a database that does not answer is db: error with status 200', async (t) => {
  const { app } = await build(t, { database: { url: 'postgres://unknown@127.0.0.1:1/none', maxConnections: 1 } });
  const answer = await app.inject({ url: '/api/health' });
  t.match(answer.json(), { status: 'ok', db: 'error', git_commit: null });
  t.equal(answer.statusCode, 200);
});
