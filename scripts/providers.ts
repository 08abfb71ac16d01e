import { report } from '@eloquentpoll/launch/failure';
import { runProviders } from './providers/run-providers.ts';

// `npm run providers`: the ready rosters and which of their settings are there. `--check NAME` asks one cheap vote of each
// provider of a roster and says what is off.

try {
  const off = await runProviders(process.argv.slice(2), process.env, (line) => process.stdout.write(`${line}\n`));
  process.exitCode = off ? 1 : 0;
} catch (error) {
  report(error);
  process.exitCode = 2;
}
