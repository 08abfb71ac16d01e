import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import { build } from 'esbuild';
import { zip } from './zip.ts';

// Builds the MCP bundle, one file that a desktop host installs. It contains a manifest and a process that forwards
// messages between host and service; the host asks its user for the API key.

const SERVER = 'server/index.mjs';

export async function bundleMcpb(file: string, baseUrl: string): Promise<{ file: string; bytes: number }> {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'packages/client/src/mcp/stdio-proxy.ts')],
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    write: false,
    logLevel: 'warning',
  });
  const archive = zip({
    'manifest.json': Buffer.from(`${JSON.stringify(manifest(baseUrl), null, 2)}\n`),
    [SERVER]: Buffer.from(outputFiles[0]!.contents),
    LICENSE: readFileSync(join(root, 'LICENSE')),
  });
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, archive);
  return { file, bytes: archive.length };
}

/** Placeholder that the host replaces with what its user entered. */
const answerTo = (field: string): string => `\${user_config.${field}}`;

function manifest(baseUrl: string): object {
  const { version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, string>;
  return {
    manifest_version: '0.3',
    name: 'eloquentpoll',
    display_name: 'EloquentPoll',
    version,
    description: 'Ask several AI models one multiple-choice question; stops once the outcome is certain enough.',
    author: { name: 'EloquentPoll', url: baseUrl },
    homepage: baseUrl,
    documentation: `${baseUrl}/api/docs`,
    license,
    keywords: ['poll', 'consensus', 'decision', 'fact-check'],
    server: {
      type: 'node',
      entry_point: SERVER,
      mcp_config: {
        command: 'node',
        args: [`\${__dirname}/${SERVER}`],
        env: { EP_KEY: answerTo('api_key'), EP_URL: answerTo('base_url') },
      },
    },
    tools: [
      { name: 'poll_question', description: 'Ask several models one multiple-choice question.' },
      { name: 'get_poll_result', description: 'Read the result of a poll again, at no cost.' },
      { name: 'get_balance', description: 'Read what the account can spend.' },
    ],
    prompts_generated: true,
    compatibility: { platforms: ['darwin', 'win32', 'linux'], runtimes: { node: '>=20' } },
    user_config: {
      api_key: {
        type: 'string',
        title: 'API key',
        description: `Begins with ep_k_. How to get one: ${baseUrl}/auth.md`,
        sensitive: true,
        required: true,
      },
      base_url: {
        type: 'string',
        title: 'Address of the service',
        description: 'Change it for an installation of your own.',
        default: baseUrl,
        required: false,
      },
    },
  };
}
