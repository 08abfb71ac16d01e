#!/usr/bin/env node
import { splitLines } from '../split-lines.ts';
import { createMcpBridge } from './mcp-bridge.ts';

// The MCP server of a bundle. A host starts it as a process and exchanges JSON-RPC messages, one per line, over stdin
// and stdout; each is forwarded to the service over HTTP.

const bridge = createMcpBridge(process.env, {
  write: (message) => void process.stdout.write(`${JSON.stringify(message)}\n`),
  note: (text) => void process.stderr.write(`${text}\n`),
});
// The host has ended; its end of the input follows.
process.stdout.on('error', () => bridge.end());

try {
  for await (const { text } of splitLines(process.stdin)) void bridge.take(text);
} finally {
  bridge.end();
}
