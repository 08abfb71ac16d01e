import type { App } from '@eloquentpoll/gateway/app';

// One step of an agent: a request, its answer, and what of both is worth showing to a reader.

// biome-ignore lint/suspicious/noExplicitAny: an agent reads whatever it is given
type Body = any;

export interface Answer {
  status: number;
  links: string;
  type: string;
  text: string;
  body: Body;
}

export type Ask = (method: string, url: string, headers?: Record<string, string>, body?: object) => Promise<Answer>;

export interface Step {
  why: string;
  status: number;
  lines: string[];
}

/** Asks a service that listens nowhere: whatever address it names is its own. */
export const askerOf =
  (app: App): Ask =>
  async (method, url, headers = {}, payload = undefined) => {
    const { pathname, search } = new URL(url);
    const inject = { method: method as 'GET' | 'POST', url: pathname + search, headers, ...(payload && { payload }) };
    const { statusCode: status, headers: answered, body: text } = await app.inject(inject);
    const type = String(answered['content-type']).split(';')[0]!;
    return { status, links: String(answered.link), type, text, body: /json/.test(type) ? JSON.parse(text) : null };
  };

/** Where a Link header leads. */
export function linked({ links }: Answer, rel: string, base: string): string {
  const [, target] = new RegExp(`<([^>]+)>; rel="${rel}"`).exec(links) ?? [];
  if (target === undefined) throw new Error(`No Link header leads to ${rel}: ${links}`);
  return new URL(target, base).href;
}

/** Where an OpenAPI document has an operation. */
export function operation({ body }: Answer, id: string): { method: string; url: string } {
  for (const [path, methods] of Object.entries<Record<string, { operationId: string }>>(body.paths))
    for (const [method, { operationId }] of Object.entries(methods))
      if (operationId === id) return { method: method.toUpperCase(), url: new URL(path, body.servers[0].url).href };
  throw new Error(`The OpenAPI document has no operation ${id}`);
}

const WIDTH = 600;

/** As a reader would like to see it: what changes from run to run is masked, what is long is cut. */
export function describeStep(why: string, [method, url, headers = {}, body]: Parameters<Ask>, answer: Answer): Step {
  const request = [
    `> ${method} ${masked(new URL(url).pathname)}`,
    ...Object.entries(headers).map(([name, value]) => `> ${name}: ${name === 'x-payment' ? '…' : masked(value)}`),
    ...(body ? [`> ${cut(masked(JSON.stringify(body)), 200)}`] : []),
  ];
  const shown = answer.body ? cut(masked(JSON.stringify(picked(answer.body))), WIDTH) : cut(answer.text, 400);
  return { why, status: answer.status, lines: [...request, `< ${answer.status} ${answer.type}`, shown] };
}

const cut = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length)} …` : text);

/** The rest of a long document is in its place; here it shows what it is. */
function picked(body: Body): Body {
  if (body.linkset) return { linkset: body.linkset.slice(0, 1) };
  if (body.openapi) return { openapi: body.openapi, info: { title: body.info.title }, paths: Object.keys(body.paths) };
  if (body.recovery) {
    const { code, detail, recovery, accepts } = body;
    return { code, detail, recovery, ...(accepts && { accepts }) };
  }
  return body;
}

const masked = (text: string): string =>
  text
    .replace(/EP-\d{4}-\d\d-\d\d-[a-z0-9]+/g, 'EP-…')
    .replace(/ep_k_\w+/g, 'ep_k_…')
    .replace(/0x[0-9a-f]{40,}/gi, '0x…')
    .replace(/req_[0-9a-f]+/g, 'req_…')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '…')
    .replace(/"(\w+_ms)":\d+/g, '"$1":0')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '…');
