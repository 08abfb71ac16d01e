import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// Models that use almost no CPU and answer at once, or after the milliseconds in the path (`/after/500/v1`). Model
// `sim/model-3` votes for the option `answer 3`, so that seven models vote for seven options and none is skipped. If
// there is no such option, it votes for `answer 8`. The server keeps the time of the first call of each poll, by a
// clock that all processes of a machine share, and the body of the newest request.

const firstAsked = new Map<string, number>();
let newest = '';

const server = createServer((request, response) => {
  const { url = '', headers } = request;
  if (request.method === 'GET') return say(url === '/newest' ? newest : JSON.stringify(Object.fromEntries(firstAsked)));
  if (request.method === 'DELETE') {
    firstAsked.clear();
    return say('{}');
  }
  const poll = headers['x-poll-id'];
  if (typeof poll === 'string' && !firstAsked.has(poll)) firstAsked.set(poll, Number(process.hrtime.bigint()) / 1e6);
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const text = Buffer.concat(chunks).toString();
    newest = text;
    const [, , number] = /"model":"(sim\/model-(\d+))"/.exec(text) ?? [];
    const label = labelOf(text, number ?? '1') ?? labelOf(text, '8');
    const afterMs = Number(/^\/after\/(\d+)\//.exec(url)?.[1] ?? 0);
    if (afterMs > 0) setTimeout(say, afterMs, replyOf(label ?? ''));
    else say(replyOf(label ?? ''));
  });

  function say(body: string): void {
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      .end(body);
  }
});

const labelOf = (text: string, number: string): string | undefined =>
  new RegExp(`\\[([A-Z]{2})\\] [^a-z]{0,3}answer ${number}(?!\\d)`).exec(text)?.[1];

const replyOf = (label: string): string =>
  `{"id":"chatcmpl-0123456789","object":"chat.completion","created":1760000000,"model":"sim","choices":[{"index":0,"finish_reason":"stop","logprobs":null,"message":{"role":"assistant","refusal":null,"content":"{\\"choice\\":\\"${label}\\"}"}}],"usage":{"prompt_tokens":310,"completion_tokens":9,"total_tokens":319}}`;

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ msg: 'ready', port, url: `http://127.0.0.1:${port}` }));
});
process.once('SIGTERM', () => process.exit(0));
