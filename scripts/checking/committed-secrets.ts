import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { looksLikeApiKey } from '@eloquentpoll/gateway/api-key';

// The repository must contain no secrets: not in the work tree, not in untracked files, not in any commit, since what
// was ever pushed is public. A finding names place and kind, and never repeats the secret.

interface Kind {
  name: string;
  pattern: RegExp;
  /** Distinguishes a secret from text that only looks like one. */
  is?(text: string): boolean;
}

const KINDS: Kind[] = [
  { name: 'an API key of this product', pattern: /ep_k_[0-9A-Za-z]{38}(?![0-9A-Za-z])/g, is: looksLikeApiKey },
  { name: 'a Stripe key', pattern: /\b[sr]k_(live|test)_[0-9A-Za-z]{20,}/g },
  { name: 'a Stripe signing secret', pattern: /\bwhsec_[0-9A-Za-z+/]{24,}/g },
  { name: 'a private key', pattern: /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----\s+[A-Za-z0-9+/=]{32,}/g },
  { name: 'a key of a model provider', pattern: /\bsk-(?:or-v1-[0-9a-f]{48,}|(?:ant|proj)-[\w-]{32,})/g },
  { name: 'an AWS access key', pattern: /\bAKIA[0-9A-Z]{16}\b/g },
  { name: 'a token of a code host or registry', pattern: /\b(?:gh[pousr]_[0-9A-Za-z]{36}|npm_[0-9A-Za-z]{36})\b/g },
];

export interface Allowed {
  path: string;
  reason: string;
}

const EXAMPLE = 'the secret of the example in the Standard Webhooks specification, whose signature only it makes';
/** Files with made-up secrets, each with the reason why the test cannot generate them. */
const ALLOWED: Allowed[] = [
  { path: 'packages/client/test/webhook.test.ts', reason: EXAMPLE },
  { path: 'packages/webhooks/test/message-form.test.ts', reason: EXAMPLE },
];

const MAX_BYTES = 4 * 2 ** 20;

/** One sentence per place. Without git there is no history to check. */
export function committedSecrets(root: string, allowed: readonly Allowed[] = ALLOWED): string[] {
  if (!existsSync(join(root, '.git'))) return [];
  const exempt = new Set(allowed.map(({ path }) => path));
  const findings = new Set<string>();
  for (const path of workTree(root)) {
    const file = join(root, path);
    if (exempt.has(path) || !existsSync(file) || !statSync(file).isFile() || statSync(file).size > MAX_BYTES) continue;
    for (const place of secretsIn(readFileSync(file, 'latin1'))) findings.add(`${path}:${place}`);
  }
  const past = new Set<string>();
  for (const { path, text } of history(root))
    for (const place of exempt.has(path) ? [] : secretsIn(text))
      if (!findings.has(`${path}:${place}`)) past.add(`${path}:${place}, in a commit of the past`);
  return [...findings, ...past];
}

function secretsIn(text: string): string[] {
  return KINDS.flatMap(({ name, pattern, is }) =>
    [...text.matchAll(pattern)]
      .filter(([match]) => !is || is(match))
      .map(({ index }) => `${text.slice(0, index).split('\n').length} holds ${name}`),
  );
}

function workTree(root: string): string[] {
  return git(root, ['ls-files', '-z', '--cached', '--others', '--exclude-standard']).split('\0').filter(Boolean);
}

/** Every version of every file that is reachable from a commit; a shallow clone has only part of the history. */
function* history(root: string): Generator<{ path: string; text: string }> {
  const paths = new Map<string, string>();
  for (const line of git(root, ['rev-list', '--objects', '--all']).split('\n')) {
    const space = line.indexOf(' ');
    if (space > 0 && line.length > space + 1) paths.set(line.slice(0, space), line.slice(space + 1));
  }
  const contents = git(root, ['cat-file', '--batch', '--buffer'], [...paths.keys()].join('\n'));
  for (let at = 0; at < contents.length; ) {
    const end = contents.indexOf('\n', at);
    const [id = '', type = '', length = '0'] = contents.slice(at, end).split(' ');
    const size = Number(length);
    if (type === 'blob' && size <= MAX_BYTES)
      yield { path: paths.get(id) ?? id, text: contents.slice(end + 1, end + 1 + size) };
    at = end + 1 + size + 1;
  }
}

/** Decoded with one character per byte, so that sizes are string positions. */
function git(root: string, args: string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync('git', args, {
    cwd: root,
    input,
    encoding: 'latin1',
    maxBuffer: 2 ** 30,
  });
  if (status !== 0) throw new Error(`git ${args[0]} failed: ${stderr}`);
  return stdout;
}
