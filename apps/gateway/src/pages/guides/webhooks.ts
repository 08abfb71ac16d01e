import { LIMITS } from '@eloquentpoll/contracts';
import { code } from '../components.ts';
import { PLACEHOLDER } from '../connect/own-key.ts';
import { html } from '../html.ts';
import { type Guide, shell } from './guide.ts';

const TYPESCRIPT = `import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks'; // npm install standardwebhooks

const webhook = new Webhook(process.env.WEBHOOK_SECRET); // whsec_…
const seen = new Set(); // In production: a table with a unique id.

createServer(async (request, response) => {
  let body = '';
  for await (const text of request.setEncoding('utf8')) body += text;
  try {
    const { type, data } = webhook.verify(body, request.headers); // The body as it came, not parsed and written again.
    if (!seen.has(request.headers['webhook-id'])) console.log(type, JSON.stringify(data));
    seen.add(request.headers['webhook-id']);
    response.writeHead(204).end();
  } catch {
    response.writeHead(400).end();
  }
}).listen(3000);`;

const python = (baseUrl: string): string => `from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import os
from eloquentpoll import EloquentPollError, verify_webhook  # curl -O ${baseUrl}/eloquentpoll.py

secret = os.environ["WEBHOOK_SECRET"]  # whsec_…
seen: set[str] = set()  # In production: a table with a unique id.


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            event = verify_webhook(body, dict(self.headers), secret)  # The body as it came.
            if self.headers["webhook-id"] not in seen:
                print(event["type"], event["data"], flush=True)
            seen.add(self.headers["webhook-id"])
            self.send_response(204)
        except EloquentPollError:
            self.send_response(400)
        self.end_headers()


ThreadingHTTPServer(("", 3000), Receiver).serve_forever()`;

export const receivingWebhooks: Guide = {
  name: 'webhooks',
  title: 'Webhooks',
  description: 'Notify your server when polls and batches end.',
  content: (baseUrl) => html`${shell(
    `KEY=${PLACEHOLDER}
curl -sS --fail-with-body ${baseUrl}/api/webhook-endpoints \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"url": "https://app.example.com/hooks", "event_types": ["poll.completed", "poll.failed", "batch.completed"]}'`,
    'an endpoint',
  )}
<p>The answer has the signing secret. Or send <code>webhook_url</code> with a session, a stream or a batch: its end is sent there, signed with the secret of
<code>GET /api/webhook-endpoints/account/secret</code>. Both are on the <a href="/dashboard/webhooks">dashboard</a> too, with a log, a test event and a button to send again.</p>
<h2>Verify</h2>
<p>Messages are <a href="https://www.standardwebhooks.com">Standard Webhooks</a>; its libraries verify them, and so do our clients.</p>
<details><summary>A receiver in TypeScript</summary>${code(TYPESCRIPT, 'TypeScript: a receiver')}</details>
<details><summary>A receiver in Python</summary>${code(python(baseUrl), 'Python: a receiver')}</details>
<h2>What to know</h2>
<ul>
<li>Answer 2xx within 15 seconds, and work afterwards. Otherwise the message is sent again after 5 s, 1 min, 5 min and so on for three days; <code>Retry-After</code> is respected up to an hour.</li>
<li>Messages are sent at least once, in any order. <code>webhook-id</code> is the same in every attempt: store processed ids.</li>
<li>410 disables the endpoint at once; so do three days without a success. Other endpoints receive <code>endpoint.disabled</code>. Waiting messages stay in the log and can be sent again.</li>
<li>The body has ids, figures, links and your <code>metadata</code>; never the question or the answer. Read the result by its link, with your key.</li>
<li>Endpoints receive one <code>batch.completed</code> per batch and nothing for its polls. A row’s own <code>webhook_url</code> is notified of its poll.</li>
<li>Addresses are https on port 443 or 8443, and public; redirects are not followed. With more than ${LIMITS.webhooks.pending} messages waiting, an endpoint gets no new ones; missed ones are counted.</li>
<li>For a day after a secret was replaced, messages are signed with both secrets.</li>
</ul>`,
};
