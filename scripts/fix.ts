import { createSteps } from '@eloquentpoll/launch/steps';
import { runTool } from './checking/run-tool.ts';

// `npm run fix`: what biome and oxlint can mend by themselves. What is left over is for the author.

const TOOLS = [
  { name: 'oxlint', run: () => runTool('oxlint', 'oxlint', '--fix', '--type-aware', 'apps', 'packages', 'scripts') },
  { name: 'biome', run: () => runTool('@biomejs/biome', 'biome', 'check', '--write', '--colors=off', '.') },
];

const steps = createSteps(process.stdout);
let exitCode = 0;
for (const { name, run } of TOOLS) {
  const step = steps.begin(name);
  const { ok, output } = await run();
  if (ok) {
    step.done(output.trim().split('\n').at(-1));
    continue;
  }
  step.failed('left over for you');
  console.log(output.trim());
  exitCode = 1;
}
process.exit(exitCode);
