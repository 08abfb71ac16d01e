import { createInterface } from 'node:readline';
import { readJson } from './json.ts';
import { GuardMessage } from './process-group.ts';
import { removeTemporary } from './remove-temporary.ts';
import { type OwnedProcess, stopProcesses } from './stop-processes.ts';

// Reads from a pipe which processes and temporary folders a group owns. When the pipe closes, the owner has ended or
// was killed; the guard then ends these processes and removes these folders.

const processes = new Map<number, OwnedProcess>();
const folders = new Set<string>();

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

const messages = createInterface({ input: process.stdin });
messages.on('line', (line) => {
  const message = readJson(GuardMessage, line);
  if ('started' in message) processes.set(message.started.pid, message.started);
  else if ('ended' in message) processes.delete(message.ended);
  else folders.add(message.temporary);
});
messages.on('close', () => void endWhatIsLeft());

async function endWhatIsLeft(): Promise<void> {
  await stopProcesses([...processes.values()]);
  await removeTemporary(folders);
  process.exit(0);
}
