import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { freePort } from '@eloquentpoll/services/free-port';

// Starts the peer's own entry point in this process, and prints the ready line once it answers.

const STARTS_WITHIN_MS = 30_000;

const port = await freePort();
process.argv.push(`--port=${port}`, '--headless');
await import(pathToFileURL(process.env.PEER_MODULE!).href);
const until = Date.now() + STARTS_WITHIN_MS;
while (!(await answers())) {
  if (Date.now() > until) throw new Error('the peer did not start in time');
  await sleep(50);
}
console.log(JSON.stringify({ msg: 'ready', port }));
process.once('SIGTERM', () => process.exit(0));

function answers(): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/`).then(
    ({ ok }) => ok,
    () => false,
  );
}
