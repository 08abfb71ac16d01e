import { findPnpm } from '@eloquentpoll/launch/tools';
import { readJson } from '@eloquentpoll/services/json';
import { runProgram } from '@eloquentpoll/services/run-program';
import { type Static, Type } from '@sinclair/typebox';

// Fails on known high and critical vulnerabilities in what ships. If the registry has no advisories or cannot be
// reached, the check says so and passes: the result must not depend on the network.

export type Advisories =
  | { kind: 'none'; lesser: number }
  | { kind: 'found'; sentences: string[] }
  | { kind: 'no answer'; why: string };

const LIMIT_MS = 25_000;
/** Codes of pnpm for a registry that lacks the endpoint, refuses the request, or cannot be reached. */
const NO_ANSWER = /AUDIT_BAD_RESPONSE|AUDIT_ENDPOINT|META_FETCH_FAIL|FETCH|ENOTFOUND|ECONN|ETIMEDOUT|EAI_AGAIN|CERT/i;

export async function advisories(root: string): Promise<Advisories> {
  const [file, ...first] = findPnpm(process.execPath) ?? ['pnpm'];
  const args = [...first, 'audit', '--prod', '--json', '--config.fetch-retries=0', '--config.fetch-timeout=15000'];
  const { output } = await runProgram(file, args, { cwd: root, env: process.env }, LIMIT_MS);
  return readAudit(output);
}

const Audit = Type.Object({
  error: Type.Optional(Type.Object({ code: Type.Optional(Type.String()), message: Type.Optional(Type.String()) })),
  advisories: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Object({
        severity: Type.String(),
        module_name: Type.String(),
        title: Type.String(),
        patched_versions: Type.Optional(Type.String()),
      }),
    ),
  ),
});
type Audit = Static<typeof Audit>;

export function readAudit(output: string): Advisories {
  const audit = parse(output);
  if (!audit) return { kind: 'no answer', why: 'nothing that can be read came back in time' };
  if (audit.error) {
    const words = `${audit.error.code ?? ''} ${audit.error.message ?? ''}`;
    if (!NO_ANSWER.test(words)) return { kind: 'found', sentences: [`the audit failed: ${words.trim()}`] };
    return { kind: 'no answer', why: /responded with (\d+)/.exec(words)?.[0] ?? audit.error.code ?? 'it is away' };
  }
  const all = Object.values(audit.advisories ?? {});
  const grave = all.filter(({ severity }) => severity === 'high' || severity === 'critical');
  if (grave.length === 0) return { kind: 'none', lesser: all.length };
  return {
    kind: 'found',
    sentences: grave.map(
      ({ module_name, severity, title, patched_versions }) =>
        `${module_name}: ${severity}: ${title}${patched_versions ? `; mended in ${patched_versions}` : ''}`,
    ),
  };
}

function parse(output: string): Audit | null {
  const start = output.indexOf('{');
  try {
    return start < 0 ? null : readJson(Audit, output.slice(start));
  } catch {
    return null;
  }
}
