import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GATEWAY_SETTINGS } from '@eloquentpoll/gateway/settings';
import { root } from '@eloquentpoll/launch/folders';
import type { SettingRow, Table } from '@eloquentpoll/ops/settings';
import { WORKER_SETTINGS } from '@eloquentpoll/worker/settings';
import t from 'tap';
import { settingProblems } from './infra/known-settings.ts';

const FILE = join(root, 'docs/settings.md');
const READERS: [name: string, table: Table][] = [
  ['gateway', GATEWAY_SETTINGS],
  ['worker', WORKER_SETTINGS],
];

function settingsPage(): string {
  const rows = new Map(READERS.flatMap(([, table]) => Object.entries(table)));
  return [
    '# Settings',
    '',
    'Environment variables of gateway and worker, printed from the tables that read them',
    '(`apps/gateway/src/config/settings-table.ts`, `apps/worker/src/settings-table.ts`) by `npm run docs:api`. An empty',
    'variable counts as unset. A process with a wrong setting lists all wrong settings and exits with code 1. In an image,',
    '`NAME_FILE` is the path of a file that contains the value of `NAME`. The roster file names the keys of model providers.',
    '',
    '| variable | read by | default | form | meaning |',
    '|---|---|---|---|---|',
    ...[...rows].map(
      ([name, row]) => `| ${[`\`${name}\``, readBy(name), byDefault(row), form(row), row.says].join(' | ')} |`,
    ),
    '',
  ].join('\n');
}

const readBy = (name: string): string =>
  READERS.filter(([, table]) => name in table)
    .map(([reader]) => reader)
    .join(', ');
const byDefault = (row: SettingRow): string =>
  row.isRequired ? '**required**' : row.byDefault ? `\`${row.byDefault}\`` : '';
const form = ({ reader }: SettingRow): string => `${reader.form}${reader.shown === 'set' ? '; secret' : ''}`;

t.test('docs/settings.md is what the tables say', async (t) => {
  const page = settingsPage();
  if (process.env.UPDATE_DOCS) writeFileSync(FILE, page);
  t.equal(page, readFileSync(FILE, 'utf8'), 'changed on purpose? run: npm run docs:api');
});

t.test('a manifest with a misspelt name, a plain secret or a wrong value is refused', async (t) => {
  t.match(settingProblems('gateway', 'DRAIN_SM', '1'), [/does not read DRAIN_SM/]);
  t.match(settingProblems('worker', 'DRAIN_MS', '900'), [/does not read DRAIN_MS/]);
  t.match(settingProblems('gateway', 'COOKIE_SECRETS', 'x'.repeat(32)), [/is a secret and not a file/]);
  t.match(settingProblems('worker', 'OPENROUTER_API_KEY', 'sk-or-1'), [/is a secret and not a file/]);
  t.match(settingProblems('gateway', 'DRAIN_MS', 'soon'), [/DRAIN_MS: must be a whole number/]);
  t.same(settingProblems('gateway', 'COOKIE_SECRETS_FILE', '/run/secrets/cookie'), []);
  t.same(settingProblems('worker', 'WORKER_CONCURRENCY', '$SLOTS'), []);
});
