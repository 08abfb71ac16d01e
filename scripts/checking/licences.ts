import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readJson } from '@eloquentpoll/services/json';
import { type Static, Type } from '@sinclair/typebox';

// Every package that the product ships must have one of the permissive licences below. Packages are found by following
// `dependencies` from the apps.

const ALLOWED = new Set([
  'MIT',
  'MIT-0',
  'ISC',
  '0BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'Unlicense',
]);

const Versions = Type.Record(Type.String(), Type.String());
const Manifest = Type.Partial(
  Type.Object({
    name: Type.String(),
    version: Type.String(),
    license: Type.String(),
    dependencies: Versions,
    optionalDependencies: Versions,
  }),
);
type Manifest = Static<typeof Manifest>;

/** One sentence per package with another licence. */
export function licenceProblems(root: string): string[] {
  const apps = join(root, 'apps');
  const waiting = readdirSync(apps).map((name) => join(apps, name));
  const seen = new Set<string>(waiting);
  const problems: string[] = [];
  for (const folder of waiting) {
    const manifest = read(folder);
    const ours = manifest.name?.startsWith('@eloquentpoll/');
    if (!ours && !allowed(manifest.license))
      problems.push(
        `${manifest.name} ${manifest.version} has the licence ${manifest.license ?? '(none)'}, which is not on the list`,
      );
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
      const found = resolve(folder, name);
      if (found && !seen.has(found)) {
        seen.add(found);
        waiting.push(found);
      }
    }
  }
  return problems;
}

// "MIT OR GPL-2.0" is a choice, "MIT AND ISC" requires both.
function allowed(expression: string | undefined): boolean {
  return (expression ?? '')
    .replace(/[()]/g, '')
    .split(/ OR /i)
    .some((choice) => choice.split(/ AND /i).every((one) => ALLOWED.has(one.trim())));
}

function read(folder: string): Manifest {
  return readJson(Manifest, readFileSync(join(folder, 'package.json'), 'utf8'));
}

/** Null for an optional dependency of another platform. */
function resolve(from: string, name: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return realpathSync(candidate);
    if (folder === dirname(folder)) return null;
  }
}
