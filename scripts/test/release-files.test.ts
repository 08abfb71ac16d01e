import t from 'tap';
import { changelogProblems } from '../checking/versions.ts';
import { datedChangelog, withRelease } from '../releasing/release-files.ts';

const CHANGELOG = '# Changelog\n\nWhat changes.\n\n## Pending\n\nWill be the first.\n\n- One.\n  More of it.\n- Two.\n';

t.test('pending changes get version and date, and a new section begins', async (t) => {
  const dated = datedChangelog(CHANGELOG, '2.0.0', '2026-11-30');
  t.equal(
    dated,
    '# Changelog\n\nWhat changes.\n\n## Pending\n\n## 2.0.0 - 2026-11-30\n\n- One.\n  More of it.\n- Two.\n',
  );
  t.same(changelogProblems(dated, '2.0.0'), []);
});

t.test('steps are kept beside those of earlier releases', async (t) => {
  const first = withRelease('{}', '2.0.0', { '0001-a': 'x' });
  t.same(JSON.parse(withRelease(first, '2.1.0', { '0001-a': 'x', '0002-b': 'y' })), {
    '2.0.0': { '0001-a': 'x' },
    '2.1.0': { '0001-a': 'x', '0002-b': 'y' },
  });
});

t.test('a version is released once', async (t) => {
  const dated = datedChangelog(CHANGELOG, '2.0.0', '2026-11-30');
  t.throws(() => datedChangelog(dated, '2.0.0', '2026-12-01'), /2\.0\.0 was released/);
  t.throws(() => withRelease('{"2.0.0":{}}', '2.0.0', {}), /2\.0\.0 was released/);
  t.throws(() => datedChangelog('# Changelog\n', '2.0.0', '2026-12-01'), /no section Pending/);
});
