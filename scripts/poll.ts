import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runHereCommand } from '@eloquentpoll/client/cli';
import { dataFolder } from '@eloquentpoll/launch/folders';
import { readJson } from '@eloquentpoll/services/json';
import { type Static, Type } from '@sinclair/typebox';
import { Secrets } from './start/secrets.ts';

// `npm run poll -- "Which is larger? [The Sun, The Moon]"`: the command-line client. By default it calls the service
// that `npm start` runs here, with the key of its local account; --url or EP_URL names another service.

const LocalService = Type.Pick(Secrets, ['url', 'apiKey']);
const { url, apiKey } = localService();
await runHereCommand(process.argv.slice(2), {
  env: { ...process.env, EP_URL: process.env.EP_URL || url },
  program: 'npm run poll --',
  ...(url && apiKey && { localKey: { siteUrl: url, key: apiKey } }),
  whenUnreachable: 'Run `npm start` in another terminal, or name a service with --url.',
});

/** The address and key of the last local start; that service may have ended since. */
function localService(): Static<typeof LocalService> {
  try {
    return readJson(LocalService, readFileSync(join(dataFolder, 'secrets.json'), 'utf8'));
  } catch {
    return {};
  }
}
