import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '@eloquentpoll/launch/folders';
import { bundleMcpb } from './bundling/bundle-mcpb.ts';

// `npm run mcpb -- [--base-url URL] [--into FILE]`: builds the MCP bundle that desktop hosts install.

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: {
    'base-url': { type: 'string', default: process.env.BASE_URL ?? 'http://localhost:8080' },
    into: { type: 'string', default: join(root, 'dist/eloquentpoll.mcpb') },
  },
});
const { file, bytes } = await bundleMcpb(values.into, new URL(values['base-url']).origin);
process.stdout.write(`${relative(process.cwd(), file)}  ${(bytes / 1024).toFixed(1)} KiB\n`);
