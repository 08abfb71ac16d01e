import { report } from '@eloquentpoll/launch/failure';
import { runProviders } from './providers/run-providers.ts';

// `npm run providers`: lists the ready rosters and which of their settings are set. `--check NAME` asks each provider
// of a roster for one cheap vote and reports what is wrong.

try {
  const off = await runProviders(process.argv.slice(2), process.env, (line) => process.stdout.write(`${line}\n`));
  process.exitCode = off ? 1 : 0;
} catch (error) {
  report(error);
  process.exitCode = 2;
}
