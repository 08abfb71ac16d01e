import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { OpsHandler } from '@eloquentpoll/ops';
import { readAccountRecord } from '@eloquentpoll/storage';
import type { OperatorsContext } from '../context.ts';
import { describedActions, isVerb } from './actions.ts';
import { guard } from './guard.ts';
import { isOutcome, NOT_RECORDED, OUTCOMES, UUID } from './operator-action.ts';
import { overview, toExactJson } from './overview.ts';
import { page } from './page.ts';
import type { DoneAction } from './page-done.ts';
import { STYLE } from './page-style.ts';
import { performAction } from './perform-action.ts';

// The operators' console on the ops port, where ADMIN_TOKEN is set:
//   GET  /admin         the overview, as HTML or JSON
//   GET  /admin/actions the actions and their fields, as JSON
//   GET  /admin/accounts/{id}  what an account paid and how it stands, as JSON
//   POST /admin/{verb}  one of them, with its fields and a reason

/** The longest reason, with each character as nine of its encoding, and the other fields. */
const MAX_FORM_BYTES = 8_192;
const ACCOUNT_PATH = /^\/admin\/accounts\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const ACTION_PATH = /^\/admin\/([a-z-]{1,20})$/;
const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
};

export function consoleHandler(context: OperatorsContext, token: string): OpsHandler {
  const { admit, isOurForm, formToken, nameOf } = guard(token);

  async function show(request: IncomingMessage, response: ServerResponse, query: URLSearchParams): Promise<void> {
    const current = await overview(context);
    if (/\bapplication\/json\b/.test(request.headers.accept ?? '')) {
      return send(response, 200, toExactJson(current), 'application/json');
    }
    const shown = {
      baseUrl: context.config.baseUrl,
      content: current,
      formToken,
      done: doneIn(query),
    };
    send(response, 200, page(shown), 'text/html; charset=utf-8');
  }

  async function showAccount(response: ServerResponse, accountId: string): Promise<void> {
    const record = await readAccountRecord(context.storage, accountId);
    if (!record) return send(response, 404, 'There is no such account.\n');
    send(response, 200, toExactJson(record), 'application/json');
  }

  async function act(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const [, verb = ''] = ACTION_PATH.exec(path) ?? [];
    if (!isVerb(verb)) return send(response, 404, 'There is no such action.\n');
    const form = await formOf(request);
    if (!form || !isOurForm(request, form)) return send(response, 403, 'An action comes from the page itself.\n');
    const result = await performAction(context, verb, { form, operator: nameOf(request) });
    if ('problem' in result) return send(response, result.isConflict ? 409 : 400, `${result.problem}\n`);
    const { actionId, isRecorded, outcome, facts = {} } = result;
    if (/\bapplication\/json\b/.test(request.headers.accept ?? '')) {
      const note = isRecorded ? {} : { note: NOT_RECORDED };
      const body = JSON.stringify({ id: actionId, outcome, detail: OUTCOMES[outcome], facts, ...note });
      return send(response, outcome === 'failed' ? 500 : 200, body, 'application/json');
    }
    const again = outcome === 'failed' || !isRecorded ? `&again=${actionId}` : '';
    response.writeHead(303, { ...HEADERS, location: `/admin?done=${outcome}${again}`, 'content-length': 0 }).end();
  }

  return async (request, response) => {
    const [path = '/', query = ''] = (request.url ?? '/').split('?', 2);
    if (path !== '/admin' && !path.startsWith('/admin/')) return false;
    const admission = admit(request);
    if (admission === 'rate_limited') {
      send(response, 429, 'Too many wrong tokens; wait a minute.\n', undefined, { 'retry-after': '60' });
    } else if (admission === 'unauthenticated') {
      const challenge = { 'www-authenticate': 'Basic realm="EloquentPoll operators", charset="UTF-8"' };
      send(response, 401, 'The password is ADMIN_TOKEN; the name is yours, for the log.\n', undefined, challenge);
    } else if (request.method === 'POST') {
      await act(request, response, path);
    } else if (path === '/admin/actions' && request.method === 'GET') {
      send(response, 200, JSON.stringify(describedActions()), 'application/json');
    } else if (ACCOUNT_PATH.test(path) && request.method === 'GET') {
      await showAccount(response, path.slice('/admin/accounts/'.length));
    } else if (path === '/admin' && (request.method === 'GET' || request.method === 'HEAD')) {
      await show(request, response, new URLSearchParams(query));
    } else {
      send(response, 404, 'There is no such page.\n');
    }
    return true;
  };
}

function doneIn(query: URLSearchParams): DoneAction | null {
  const [outcome, again] = [query.get('done'), query.get('again')];
  if (outcome === null || !isOutcome(outcome)) return null;
  return { outcome, again: again !== null && UUID.test(again) ? again : null };
}

/** Null if the body is larger than any of our forms. */
async function formOf(request: IncomingMessage): Promise<URLSearchParams | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_FORM_BYTES) return null;
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString());
}

function send(
  response: ServerResponse,
  status: number,
  body: string,
  type = 'text/plain; charset=utf-8',
  more: Record<string, string> = {},
): void {
  const headers = { ...HEADERS, ...more, 'content-type': type, 'content-length': Buffer.byteLength(body) };
  response.writeHead(status, headers).end(response.req.method === 'HEAD' ? undefined : body);
}
