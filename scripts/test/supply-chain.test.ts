import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newApiKey } from '@eloquentpoll/gateway/api-key';
import { root } from '@eloquentpoll/launch/folders';
import { findPnpm } from '@eloquentpoll/launch/tools';
import { runProgram } from '@eloquentpoll/services/run-program';
import t, { type Test } from 'tap';
import { parse, stringify } from 'yaml';
import { readAudit } from '../checking/advisories.ts';
import { committedSecrets } from '../checking/committed-secrets.ts';
import { installPolicyProblems } from '../checking/install-policy.ts';
import { lockfileProblems } from '../checking/lockfile.ts';
import { writeSbom } from '../sbom.ts';

// slow: 3 s

// What keeps a hijacked package, a known hole and a lost secret out; each is tried with what it is there to stop.

const lockfile = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8');
const workspace = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8');

t.test('the repository itself passes', async (t) => {
  t.same(lockfileProblems(root), []);
  t.same(installPolicyProblems(root), []);
  t.same(committedSecrets(root), []);
});

t.test('a lockfile that was tampered with', async (t) => {
  const first = /^ {4}resolution: (\{integrity: \S+\})$/m.exec(lockfile)!;
  const instead = (resolution: string) => lockfileProblems(root, lockfile.replace(first[1]!, resolution));
  t.match(instead('{tarball: https://elsewhere.example/x.tgz}'), [/names a source/, /no sha512/]);
  t.match(instead(first[1]!.replace('}', ', tarball: https://elsewhere.example/x.tgz}')), [
    /names a source/,
    /no sha512/,
  ]);
  t.match(instead('{integrity: sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=}'), [/no sha512/]);
  t.match(instead('{type: git, repo: git+ssh://git@elsewhere.example/x.git, commit: abc}'), [
    /names a source/,
    /no sha512/,
  ]);
  t.match(lockfileProblems(root, lockfile.replace(first[0], '    engines: {node: 20}')), [/no sha512/]);
});

t.test('a policy that was loosened', async (t) => {
  const with_ = (change: object) => installPolicyProblems(root, stringify({ ...parse(workspace), ...change }));
  t.match(with_({ minimumReleaseAge: 60 }), [/less than a week/]);
  t.match(with_({ blockExoticSubdeps: false }), [/blockExoticSubdeps/]);
  t.match(with_({ strictDepBuilds: false }), [/strictDepBuilds/]);
  t.match(with_({ dangerouslyAllowAllBuilds: true }), [/every install script/]);
  t.match(with_({ allowBuilds: { 'left-pad': true } }), [/left-pad may run/]);
  t.match(with_({ catalog: { 'left-pad': '^1.3.0' } }), [/left-pad has no exact version/]);
});

t.test('a package whose install script is not allowed does not install, and the script does not run', async (t) => {
  const { install, marker } = project(t, { scripts: (file) => ({ postinstall: `touch ${file}` }) });
  const { ok, output } = await install();
  t.notOk(ok, 'the install fails');
  t.match(output, /ERR_PNPM_IGNORED_BUILDS|Ignored build scripts/);
  t.notOk(existsSync(marker), 'nothing ran');
});

t.test('a dependency that brings one from a git host does not install', async (t) => {
  const host = repository(t, { 'package.json': '{"name":"deeper","version":"1.0.0"}' });
  const { install } = project(t, { dependencies: { deeper: `git+file://${host}` } });
  const { ok, output } = await install();
  t.notOk(ok);
  t.match(output, /EXOTIC_SUBDEP/);
});

t.test('a planted secret is found: in a file, in a file not yet committed, in a commit of the past', async (t) => {
  const folder = repository(t);
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const commit = (words: string) => execFileSync('git', ['-C', folder, ...AUTHOR, 'commit', '-qam', words]);
  const key = newApiKey();
  const mistyped = `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`;
  write('notes.txt', `nothing\nkey = ${key}\n`);
  execFileSync('git', ['-C', folder, 'add', '.']);
  t.same(committedSecrets(folder), ['notes.txt:2 holds an API key of this product']);
  commit('with a key');
  write('notes.txt', `nothing\n${mistyped} is none\n`);
  commit('without');
  t.same(committedSecrets(folder), ['notes.txt:2 holds an API key of this product, in a commit of the past']);
  t.same(committedSecrets(folder, [{ path: 'notes.txt', reason: 'made up' }]), []);
  const words = 'abcDEF0123456789abcDEF0123456789';
  write('stripe.env', `A=${'sk_live'}_${words}\nB=${'whsec'}_${words}\n`);
  write('key.pem', `-----BEGIN ${'PRIVATE'} KEY-----\n${words}${words}\n-----END`);
  const found = committedSecrets(folder).filter((line) => !line.startsWith('notes'));
  t.same(found, [
    'key.pem:1 holds a private key',
    'stripe.env:1 holds a Stripe key',
    'stripe.env:2 holds a Stripe signing secret',
  ]);
  t.notMatch(found.join(), words, 'and none is repeated');
});

t.test('what the registry says about known holes', async (t) => {
  const advisory = (severity: string) =>
    JSON.stringify({
      advisories: { 1: { severity, module_name: 'left-pad', title: 'falls over', patched_versions: '>=2' } },
    });
  t.same(readAudit('{"advisories":{},"metadata":{}}'), { kind: 'none', lesser: 0 });
  t.same(readAudit(advisory('moderate')), { kind: 'none', lesser: 1 });
  for (const severity of ['high', 'critical'])
    t.match(readAudit(advisory(severity)), { kind: 'found', sentences: [/left-pad: .*falls over; mended in >=2/] });
  t.match(readAudit('{"error":{"code":"ERR_PNPM_AUDIT_BAD_RESPONSE","message":"responded with 405: "}}'), {
    kind: 'no answer',
    why: 'responded with 405',
  });
  t.match(readAudit('{"error":{"code":"ERR_PNPM_META_FETCH_FAIL","message":"ENOTFOUND"}}'), { kind: 'no answer' });
  t.match(readAudit(''), { kind: 'no answer' }, 'a registry that hangs');
  t.match(readAudit('{"error":{"code":"ERR_PNPM_NO_LOCKFILE","message":"no lockfile"}}'), { kind: 'found' });
});

t.test('the list of what an image holds', async (t) => {
  const file = join(t.testdir(), 'worker.cdx.json');
  await writeSbom('worker', file);
  const list = JSON.parse(readFileSync(file, 'utf8'));
  t.match(list, { bomFormat: 'CycloneDX', specVersion: '1.6' });
  const ioredis = list.components.find(({ name }: { name: string }) => name === 'ioredis');
  t.match(ioredis, { version: parse(workspace).catalog.ioredis, licenses: [{ license: { id: 'MIT' } }] });
  t.match(JSON.stringify(ioredis), /"SHA-512"/);
  t.notOk(
    list.components.some(({ name }: { name: string }) => name === 'tap'),
    'what tests need is not in it',
  );
});

function temporary(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'eloquentpoll-supply-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const AUTHOR = ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'commit.gpgsign=false'];

function repository(t: Test, files: Record<string, string> = {}): string {
  const folder = temporary(t);
  execFileSync('git', ['init', '-q', folder]);
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text);
    execFileSync('git', ['-C', folder, 'add', name]);
    execFileSync('git', ['-C', folder, ...AUTHOR, 'commit', '-qm', name]);
  }
  return folder;
}

interface Hijacked {
  scripts?: (marker: string) => Record<string, string>;
  dependencies?: Record<string, string>;
}

/** A project under our own settings with one dependency, packed here; nothing is fetched. */
function project(t: Test, { scripts, dependencies }: Hijacked) {
  const folder = temporary(t);
  for (const name of ['package', 'project']) mkdirSync(join(folder, name));
  const marker = join(folder, 'it-ran');
  const manifest = { name: 'package', version: '1.0.0', scripts: scripts?.(marker), dependencies };
  writeFileSync(join(folder, 'package/package.json'), JSON.stringify(manifest));
  execFileSync('tar', ['-czf', 'hijacked.tgz', 'package'], { cwd: folder });
  const here = join(folder, 'project');
  const { blockExoticSubdeps, strictDepBuilds, allowBuilds } = parse(workspace);
  writeFileSync(join(here, 'pnpm-workspace.yaml'), stringify({ blockExoticSubdeps, strictDepBuilds, allowBuilds }));
  writeFileSync(
    join(here, 'package.json'),
    JSON.stringify({ name: 'project', private: true, dependencies: { hijacked: 'file:../hijacked.tgz' } }),
  );
  const [program, ...first] = findPnpm(process.execPath)!;
  const args = [...first, 'install', '--offline', `--store-dir=${join(folder, 'store')}`];
  return { marker, install: () => runProgram(program, args, { cwd: here, env: process.env }, 60_000) };
}
