import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { GuardMessage } from './household.ts';
import { type OwnedProcess, stopProcesses } from './stop-processes.ts';

// The last one to leave. It hears over a pipe which processes and temporary folders exist; when the pipe closes, the
// process that owned them is gone, perhaps killed without a chance to tidy up, and the guard ends what is left.

const processes = new Map<number, OwnedProcess>();
const folders = new Set<string>();

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

const messages = createInterface({ input: process.stdin });
messages.on('line', (line) => {
  const message: GuardMessage = JSON.parse(line);
  if ('started' in message) processes.set(message.started.pid, message.started);
  else if ('ended' in message) processes.delete(message.ended);
  else folders.add(message.temporary);
});
messages.on('close', () => void endWhatIsLeft());

async function endWhatIsLeft(): Promise<void> {
  await stopProcesses([...processes.values()]);
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  process.exit(0);
}
