import { createSteps } from '@eloquentpoll/launch/steps';
import { CHECKS, type RepositoryCheck } from './checking/checks.ts';

// `npm run check [-- NAME...]`: checks the code without running it. All checks run even if one fails, and the findings
// of failed checks are printed in full.

const CONCURRENCY = 2;

async function runChecks(names: readonly string[]): Promise<number> {
  const unknown = names.filter((name) => !CHECKS.some((check) => check.name === name));
  if (unknown.length > 0) {
    console.error(`There is no check ${unknown.join(', ')}. The checks are:\n`);
    for (const { name, what } of CHECKS) console.error(`  ${name.padEnd(12)} ${what}`);
    return 1;
  }
  const isNamed = ({ name }: RepositoryCheck) => names.includes(name);
  const waiting = names.length === 0 ? [...CHECKS] : CHECKS.filter(isNamed);
  const steps = createSteps(process.stdout);
  const failed: { name: string; output: string }[] = [];

  async function work(): Promise<void> {
    for (let check = waiting.shift(); check; check = waiting.shift()) {
      const step = steps.begin(check.name, check.what);
      const { ok, output, note } = await check.run();
      if (ok) step.done(note);
      else {
        step.failed();
        failed.push({ name: check.name, output });
      }
    }
  }

  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  for (const { name, output } of failed) console.log(`\n── ${name} ──\n${output.trim()}`);
  if (failed.length > 0) console.log(`\n${failed.map(({ name }) => name).join(', ')} failed`);
  return failed.length > 0 ? 1 : 0;
}

process.exit(await runChecks(process.argv.slice(2).filter((arg) => arg !== '--')));
