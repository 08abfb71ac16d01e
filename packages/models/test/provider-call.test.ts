import t from 'tap';
import { fromMessagesReply, toMessagesBody } from '../src/messages-api.ts';
import { loadPanels, loadProviders } from '../src/panels.ts';
import { addressOf, headersOf, providerKeyOf, settingsOf } from '../src/provider-call.ts';
import { readAnswer, readProviderCost, readUsage } from '../src/read-answer.ts';
import { panelJson, rosterFile } from './test-panels.ts';

const providerIn = (roster: string) => [...loadProviders(roster).providers.values()][0]!;

t.test('an address takes its settings, and only letters, digits, dots and hyphens of them', async (t) => {
  const azure = providerIn('azure');
  t.same(settingsOf(azure), ['AZURE_OPENAI_API_KEY', 'AZURE_OPENAI_RESOURCE']);
  t.equal(
    addressOf(azure, () => ' ours-1 '),
    'https://ours-1.openai.azure.com/openai/v1',
  );
  t.equal(
    addressOf(providerIn('bedrock'), () => 'eu-west-1'),
    'https://bedrock-mantle.eu-west-1.api.aws/v1',
  );
  for (const value of ['evil.example/', 'a@b', 'a b', 'x#', '-a', 'a:1', 'a\\b'])
    t.throws(() => addressOf(azure, () => value), /AZURE_OPENAI_RESOURCE must be letters/, value);
  t.throws(() => addressOf(azure, () => ''), /Provider azure has no address: set AZURE_OPENAI_RESOURCE/);
  t.throws(() => providerKeyOf(azure, () => undefined), /Provider azure has no key: set AZURE_OPENAI_API_KEY/);
});

t.test('the key is in the header of the dialect alone', async (t) => {
  t.match(headersOf(providerIn('openai'), 'k-1'), { authorization: 'Bearer k-1', 'api-key': undefined });
  t.match(headersOf(providerIn('azure'), 'k-1'), { 'api-key': 'k-1', authorization: undefined });
  t.match(headersOf(providerIn('anthropic'), 'k-1'), {
    'x-api-key': 'k-1',
    'anthropic-version': '2023-06-01',
    authorization: undefined,
  });
  t.notMatch(JSON.stringify(headersOf(providerIn('ollama'), null)), /key|authorization/);
});

t.test('an address with a setting in it is https too where that is wanted', async (t) => {
  t.ok(loadPanels({ file: 'azure', httpsOnly: true }));
  const file = rosterFile(t, panelJson([], { one: { base_url: 'http://{HOST_NAME}.example/v1/' } }));
  t.equal(loadPanels({ file }).provider('one').baseUrl, 'http://{HOST_NAME}.example/v1');
  t.throws(
    () => loadPanels({ file, httpsOnly: true }),
    /providers\.one\.base_url: would send prompts .* in clear text/,
  );
});

t.test('a chat request in the fields of Messages', async (t) => {
  const body = toMessagesBody({
    model: 'm',
    max_tokens: 10,
    messages: [
      { role: 'system', content: 's' },
      { role: 'user', content: 'u' },
    ],
    output_config: { effort: 'low' },
    response_format: { type: 'json_schema', json_schema: { name: 'vote', strict: true, schema: { type: 'object' } } },
  });
  t.same(body, {
    model: 'm',
    max_tokens: 10,
    system: 's',
    messages: [{ role: 'user', content: 'u' }],
    output_config: { effort: 'low', format: { type: 'json_schema', schema: { type: 'object' } } },
  });
});

t.test('whatever Messages replies is a completion that can be read, or none', async (t) => {
  const model = { answer: 'json_schema', maxOutputTokens: 100 } as const;
  const read = (reply: unknown) => readAnswer(model, fromMessagesReply(reply), ['QJ', 'ZR']);
  const text = (value: string) => ({ type: 'text', text: value });
  t.match(
    read({ content: [{ type: 'thinking', thinking: '' }, text('{"choice":'), text('"ZR"}')], stop_reason: 'end_turn' }),
    { vote: 1 },
  );
  t.match(read({ content: [], stop_reason: 'refusal' }), { error: 'refusal' });
  t.match(read({ content: [text('{"choice"')], stop_reason: 'max_tokens' }), { error: 'malformed', repair: false });
  t.match(read({ content: [], stop_reason: 'pause_turn' }), { error: 'malformed', repair: true });
  for (const odd of [null, 7, [], {}, { content: 'text' }, { error: { type: 'x' } }])
    t.match(read(odd), { error: 'provider_error' }, JSON.stringify(odd));
  t.match(read({ content: [null, 7, { type: 'text' }] }), { error: 'malformed' });
  t.equal(readUsage(fromMessagesReply({ content: [], usage: { output_tokens: 5 } })), null);
  const counted = (stop_reason: string, output_tokens: number) =>
    readUsage(fromMessagesReply({ content: [], stop_reason, usage: { input_tokens: 400, output_tokens } }));
  t.same(counted('refusal', 0), { inputTokens: 0, outputTokens: 0 }, 'refused before it wrote anything: not billed');
  t.same(counted('refusal', 3), { inputTokens: 400, outputTokens: 3 });
  t.same(counted('end_turn', 0), { inputTokens: 400, outputTokens: 0 });
});

t.test('reasoning beside the completion counts, a total of nonsense does not', async (t) => {
  const usage = (rest: object) => readUsage({ usage: { prompt_tokens: 10, completion_tokens: 5, ...rest } });
  t.same(usage({ total_tokens: 40 }), { inputTokens: 10, outputTokens: 30 });
  for (const total_tokens of [15, 3, -1, 1.5, '40', null, 1e12])
    t.same(usage({ total_tokens }), { inputTokens: 10, outputTokens: 5 }, String(total_tokens));
  t.equal(readProviderCost({ usage: { cost_in_usd_ticks: 10_000_000_000 } }), 1_000_000);
  for (const cost_in_usd_ticks of [-1, Number.NaN, 1e14])
    t.equal(readProviderCost({ usage: { cost_in_usd_ticks } }), null);
});
