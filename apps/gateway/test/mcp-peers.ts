import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Test } from 'tap';

// The clients that other people use, one for each era of the protocol, behind one face.

interface Answer {
  content: { type: string; text?: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
}

export interface Step {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}

export interface Peer {
  revision: string | undefined;
  listTools(): Promise<{ tools: { name: string }[] }>;
  call(name: string, input?: object, onStep?: (step: Step) => void): Promise<Answer>;
  /** Breaks the connection, whatever is under way. */
  hangUp(): Promise<void>;
}

const ME = { name: 'peer', version: '1.0.0' };

export async function oldPeer(t: Test, url: URL, headers: Record<string, string>): Promise<Peer> {
  const client = new OldClient(ME);
  const transport = new OldTransport(url, { requestInit: { headers } });
  // The library's own types disagree about optional members.
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  t.teardown(() => client.close());
  return {
    revision: transport.protocolVersion,
    listTools: () => client.listTools(),
    hangUp: () => client.close(),
    async call(name, input = {}, onStep) {
      const options = onStep ? { onprogress: onStep } : {};
      return (await client.callTool({ name, arguments: { ...input } }, undefined, options)) as Answer;
    },
  };
}

export async function newPeer(t: Test, url: URL, headers: Record<string, string>): Promise<Peer> {
  const client = new NewClient(ME, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new NewTransport(url, { requestInit: { headers } }));
  t.teardown(() => client.close());
  return {
    revision: client.getNegotiatedProtocolVersion(),
    listTools: () => client.listTools(),
    hangUp: () => client.close(),
    async call(name, input = {}, onStep) {
      const options = onStep ? { onprogress: onStep } : {};
      return (await client.callTool({ name, arguments: { ...input } }, options)) as Answer;
    },
  };
}

export const PEERS = [
  { era: 'the 1.x client', revision: '2025-11-25', connect: oldPeer },
  { era: 'the 2.x client', revision: '2026-07-28', connect: newPeer },
] as const;
