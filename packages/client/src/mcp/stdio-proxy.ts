#!/usr/bin/env node
import { splitLines } from '../split-lines.ts';
import { createMcpBridge } from './mcp-bridge.ts';

// The MCP server of a bundle. A host starts it as a process and exchanges JSON-RPC messages, one per line, over stdin
// and stdout; each is forwarded to the service over HTTP.

const bridge = createMcpBridge(process.env, {
  write: (message) => void process.stdout.write(`${JSON.stringify(message)}\n`),
  note: (text) => void process.stderr.write(`${text}\n`),
});
/** Once no answer can be read any more, or the host ends this process, calls are canceled. */
function leave(): void {
  bridge.end();
  process.stdin.destroy();
}
process.stdout.on('error', leave);
// A host that reads no notes still reads answers.
process.stderr.on('error', () => {});
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, leave);

// The end of the input cancels nothing: a script that sends its requests and closes the input reads the answers.
try {
  for await (const { text } of splitLines(process.stdin)) void bridge.take(text);
} catch (error) {
  if (!process.stdin.destroyed) throw error;
}
