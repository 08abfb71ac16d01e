import type { Test } from 'tap';
import { loopbackServer } from './loopback-server.ts';
import { anthropic } from './vendors/anthropic.ts';
import * as lenient from './vendors/lenient.ts';
import { azure, openai } from './vendors/openai.ts';
import * as strict from './vendors/strict.ts';
import type { AskedVote, ErrorAnswer, Json, Outcome, Vendor } from './vendors/vendor.ts';

// One server per dialect, as strict as the vendor: it checks the key, knows its models, rejects what the vendor
// rejects, and returns votes in the requested format.

const VENDORS: Record<string, Omit<Vendor, 'models'>> = { ...lenient, ...strict, openai, azure, anthropic };

/** What the next calls get; later calls get votes. */
export type VendorMood = 'vote' | 'refusal' | 'rate_limited' | 'spent' | 'overloaded' | 'cut' | 'no_usage' | 'prose';

export interface VendorCall {
  path: string;
  headers: NodeJS.Dict<string | string[]>;
  body: Json;
}

export interface FakeVendor {
  url: string;
  key: string;
  calls: VendorCall[];
  next(...moods: VendorMood[]): void;
}

export async function fakeVendor(
  t: Pick<Test, 'teardown'>,
  dialect: string,
  models: readonly string[],
): Promise<FakeVendor> {
  const vendor: Vendor = { ...VENDORS[dialect]!, models };
  const calls: VendorCall[] = [];
  const key = `key-of-${dialect}`;
  let moods: VendorMood[] = [];
  let spent = 0;
  const origin = await loopbackServer(t, ({ request, body: text, response, reply }) => {
    const path = request.url ?? '';
    const send = ({ status, body, headers = {} }: ErrorAnswer): void => {
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      reply(status, body);
    };
    if (path === '/v1/models') return reply(200, { object: 'list', data: models.map((id) => ({ id })) });
    if (path !== `/v1${vendor.path}`) return reply(404, { error: { message: 'no such path' } });
    const body = JSON.parse(text) as Json;
    calls.push({ path, headers: request.headers, body });
    const sent = String(request.headers[vendor.keyHeader] ?? '').replace(/^Bearer /, '');
    if (sent !== key) return send(repeating(vendor.unauthorized, sent));
    if (vendor.path === '/messages' && request.headers['anthropic-version'] !== '2023-06-01')
      return send({
        status: 400,
        body: {
          type: 'error',
          error: { type: 'invalid_request_error', message: 'anthropic-version: header is required' },
        },
      });
    const asked: AskedVote = { body, model: String(body.model), labels: labelsIn(text) };
    if (!models.includes(asked.model)) return send(vendor.unknownModel(asked.model));
    const complaint = vendor.complaint(asked);
    if (complaint) return send(complaint);
    const mood = moods.shift() ?? 'vote';
    const error = mood === 'spent' ? (vendor.spent[spent++ % vendor.spent.length] ?? null) : errorFor(vendor, mood);
    if (error) return send(error);
    return reply(200, vendor.completion(asked, outcomeOf(asked, mood)));
  });
  const next = (...others: VendorMood[]): void => {
    moods = others;
  };
  return { url: `${origin}/v1`, key, calls, next };
}

/** OpenAI and xAI include the beginning of a rejected key in the error. */
const repeating = ({ status, body }: ErrorAnswer, key: string): ErrorAnswer => ({
  status,
  body: JSON.parse(JSON.stringify(body).replace('***', `${key.slice(0, 12)}***`)),
});

function errorFor(vendor: Vendor, mood: VendorMood): ErrorAnswer | null {
  switch (mood) {
    case 'refusal':
      return vendor.refusal;
    case 'prose':
      return vendor.unreadable ?? null;
    case 'rate_limited':
      return vendor.rateLimited;
    case 'overloaded':
      return vendor.overloaded;
    default:
      return null;
  }
}

/** Finds labels in the request: `[QJ] "an option"`. */
const labelsIn = (text: string): string[] => [...text.matchAll(/\[([A-Z]{2})\] \\"/g)].map(([, label]) => label!);

function outcomeOf(asked: AskedVote, mood: VendorMood): Outcome {
  const reasons = JSON.stringify(asked.body).includes('rationale');
  const choice = { ...(reasons && { rationale: 'It fits the question best.' }), choice: asked.labels[0] };
  const { response_format, output_config, tools } = asked.body;
  const structured =
    response_format !== undefined || tools !== undefined || JSON.stringify(output_config ?? '').includes('schema');
  const whole = structured ? JSON.stringify(choice) : `It fits best.\nVOTE: ${asked.labels[0]}`;
  const text = { refusal: null, cut: whole.slice(0, 8), prose: 'I would take the first.' }[mood as string];
  return {
    text: text === undefined ? whole : text,
    end: mood === 'refusal' ? 'refused' : mood === 'cut' ? 'cut' : 'done',
    inputTokens: 400,
    outputTokens: 20,
    reasoningTokens: /"(low|adaptive)"/.test(JSON.stringify(asked.body)) ? 64 : 0,
    counted: mood !== 'no_usage',
  };
}
