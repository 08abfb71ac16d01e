import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Test } from 'tap';

export interface LintProblem {
  ruleId: string;
  message: string;
}

/** Redocly's recommended rules for OpenAPI and AsyncAPI, by its command line, which is what users run. */
export async function lint(t: Test, document: string): Promise<LintProblem[]> {
  const folder = await mkdtemp(join(tmpdir(), 'lint-'));
  t.teardown(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'document.json'), document);
  const cli = join(dirname(fileURLToPath(import.meta.resolve('@redocly/cli/package.json'))), 'bin/cli.js');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [cli, 'lint', 'document.json', '--extends=recommended', '--format=json'],
    { cwd: folder, env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' } },
  );
  return JSON.parse(stdout).problems.map(({ ruleId, message }: LintProblem) => ({ ruleId, message }));
}
