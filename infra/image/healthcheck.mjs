import { get } from 'node:http';

// `node healthcheck.mjs PORT PATH`: ends with 0 when that page of this container answers 200 within its time. The
// images hold no shell and no curl.

const [, , port, path] = process.argv;
const request = get({ host: '127.0.0.1', port, path, timeout: 3_000 }, ({ statusCode }) => {
  process.exit(statusCode === 200 ? 0 : 1);
});
request.on('timeout', () => request.destroy());
request.on('error', () => process.exit(1));
