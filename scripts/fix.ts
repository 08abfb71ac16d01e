import { createSteps } from '@eloquentpoll/launch/steps';
import { runTool } from './checking/run-tool.ts';

// `npm run fix`: applies the automatic fixes of biome and oxlint. The rest is left to the author.

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
