import { PLACEHOLDER } from '../connect/own-key.ts';
import { html } from '../html.ts';
import { type Guide, shell } from './guide.ts';

export const keepAndDelete: Guide = {
  name: 'keep-and-delete',
  title: 'Keep, export, delete',
  description: 'How long polls are kept, how to delete one or all of them, and how to export everything.',
  content: (
    baseUrl,
  ) => html`<p><code>expires_at</code> of a result says when it is deleted. For an earlier deletion, send <code>expires_in</code>, in seconds, with the poll. Delete a poll by the id of its result or session, or with the button on its page and in the <a href="/dashboard/polls">history</a>.</p>
${shell(
  `KEY=${PLACEHOLDER}
ID=$(curl -sS --fail-with-body ${baseUrl}/api/quick-poll \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"poll": "Which is larger? [Sun, Moon]", "expires_in": 86400}' |
  sed 's/.*"poll_id":"\\([^"]*\\)".*/\\1/')
curl -sS --fail-with-body "${baseUrl}/api/results/$ID" | head -c 80
curl -sS --fail-with-body -X DELETE "${baseUrl}/api/results/$ID" -H "Authorization: Bearer $KEY"
curl -sS --fail-with-body ${baseUrl}/api/export -H "Authorization: Bearer $KEY" | tail -n 1`,
  'a poll that is deleted, and an export',
)}
<h2>What is left of a deleted poll</h2>
<p>No text that was asked or answered: question, options, reasons, metadata, feedback and receipt are deleted at once, and the poll's addresses answer 404. If a Redis server fails at that moment, its copy of the poll's progress may come back; it is deleted again about half a minute later, and nothing reads it until then. What has no text stays for the books: ids, amounts, and the number of the option that each model chose; and sums in published figures. <a href="/api/docs">Cancel</a> a poll that runs first: until it has ended, deleting it is a 409. Deleting a batch deletes its polls.</p>
<h2>Export</h2>
<p>JSON lines, each with a <code>type</code>: your account, keys without their secrets, panels, webhook endpoints, feedback, polls with results and votes, transfers. The last line is <code>end</code>; without it, continue with <code>?cursor=</code> of the last <code>cursor</code> line.</p>
<h2>Your account</h2>
<p><code>DELETE /api/account</code> with a login that is at most 15 minutes old, or a wallet’s signature at <code>POST /api/wallet/delete-account</code>. It cannot be undone, and a key cannot do it. A remaining balance is not paid out afterwards: spend it first, or ask for a refund.</p>`,
};
