import t from 'tap';
import { dialectOf } from '../src/dialects.ts';
import { failureOfReply } from '../src/error-reply.ts';
import type { Model, Provider } from '../src/panels.ts';
import { capabilityFor, rejectedField } from '../src/rejected-field.ts';
import { READY } from './ready-rosters.ts';
import { vendorPanels } from './vendor-panels.ts';
import { voteRequest } from './vote-request.ts';

/** What a roster says wrongly of a model, the field that the vendor then turns away, and what to change. */
const wrong: [file: string, id: string, change: Partial<Model>, field: string, change: RegExp][] = [
  ['mixed', 'openai/gpt-5.6-luna', { temperature: true }, 'temperature', /"temperature": false/],
  ['mixed', 'anthropic/claude-sonnet-5', { temperature: true }, 'temperature', /"temperature": false/],
  ['mixed', 'anthropic/claude-haiku-4.5', { reasoning: 'low' }, 'thinking', /"reasoning" of the model/],
  ['mixed', 'anthropic/claude-haiku-4.5', { extraBody: { top_logprobs: 1 } }, 'top_logprobs', /"extra_body"/],
  ['mixed', 'google/gemini-3.5-flash', { extraBody: { top_k: 1 } }, 'top_k', /"extra_body"/],
  [
    'mixed',
    'google/gemini-3.1-flash-lite',
    { reasoning: 'none', extraBody: { reasoning_effort: 'minimal' } },
    'reasoning_effort',
    /"reasoning" of the model/,
  ],
  [
    'mixed',
    'mistralai/mistral-small-2603',
    { reasoning: 'none', extraBody: { reasoning_effort: 'low' } },
    'reasoning_effort',
    /"reasoning"/,
  ],
  ['mixed', 'x-ai/grok-4.20-non-reasoning', { reasoning: 'low' }, 'reasoning_effort', /"reasoning_field"/],
  ['groq', 'groq/qwen3.6-27b', { answer: 'json_schema' }, 'response_format', /"answer": "json_object"/],
  ['groq', 'groq/gpt-oss-20b', { reasoning: 'off' }, 'reasoning_effort', /"reasoning"/],
  [
    'fireworks',
    'fireworks/glm-5.2',
    { extraBody: { chat_template_kwargs: {} } },
    'chat_template_kwargs',
    /"reasoning_field"/,
  ],
];

for (const [file, id, change, field, way] of wrong)
  t.test(`${id} sends ${field} that it may not -> named once, one call a vote`, async (t) => {
    const { asker, rejected, panels } = await vendorPanels(t, file, (model) => (model.id === id ? change : {}));
    for (let i = 0; i < 3; i += 1)
      t.match(await asker.ask(voteRequest({ modelId: id })), { error: 'provider_error', calls: 1 });
    t.match(rejected, [{ provider: panels.model(id)!.provider, modelId: id, field, change: way }]);
    t.equal(rejected.length, 1);
  });

t.test('the field of a provider that says another token or seed field is named', async (t) => {
  for (const [file, id, takes, field] of [
    ['mixed', 'openai/gpt-5.6-luna', { maxTokensField: 'max_tokens' }, 'max_tokens'],
    ['mixed', 'google/gemini-3.5-flash', { seedField: 'seed' }, 'seed'],
    ['mixed', 'mistralai/mistral-small-2603', { seedField: 'seed' }, 'seed'],
    ['mixed', 'mistralai/mistral-small-2603', { userField: 'user' }, 'user'],
    ['azure', 'azure/mistral-medium-2505', { maxTokensField: 'max_completion_tokens' }, 'max_completion_tokens'],
    ['azure', 'azure/mistral-medium-2505', { userField: 'user' }, 'user'],
  ] as const) {
    const { panels, asker, rejected } = await vendorPanels(t, file, (model) =>
      model.id === id ? { seed: file === 'mixed' } : {},
    );
    const provider: Provider = panels.provider(panels.model(id)!.provider);
    Object.assign(provider.takes, takes);
    t.match(await asker.ask(voteRequest({ modelId: id, caller: 'c-1' })), { error: 'provider_error', calls: 1 });
    t.match(rejected, [{ field }], `${id} ${field}`);
  }
});

for (const file of READY)
  t.test(`${file}: a model that the vendor does not know, or no longer has, is named once`, async (t) => {
    const { asker, rejected, panels } = await vendorPanels(t, file);
    for (const { name } of panels.providers()) {
      const model = panels.models().find(({ provider }) => provider === name)!;
      model.name = 'gone-1';
      for (let i = 0; i < 2; i += 1)
        t.match(await asker.ask(voteRequest({ modelId: model.id })), { error: 'provider_error', calls: 1 });
      t.match(
        rejected,
        [{ provider: name, modelId: model.id, field: 'model', change: /does not know this name/ }],
        name,
      );
      t.equal(rejected.splice(0).length, 1, name);
    }
  });

t.test('a model that was taken out of service is named', async (t) => {
  const reply = (status: number, error: object) => ({ status, headers: {}, text: JSON.stringify({ error }) });
  const ended = { message: 'The model `llama-3.3-70b` has been decommissioned.', code: 'model_decommissioned' };
  t.match(failureOfReply(reply(400, ended), ['model'], 0), { kind: 'status', status: 400, field: 'model' });
  t.match(failureOfReply(reply(404, { message: 'Not Found' }), ['model'], 0), { field: null }, 'a path, maybe');
  const nowhere = { message: 'No endpoints found for vendor/some-name.', code: 404 };
  t.match(failureOfReply(reply(404, nowhere), ['model'], 0), { field: 'model' });
  const forbidden = { message: 'No endpoints found matching your data policy (Free model training)', code: 404 };
  t.match(failureOfReply(reply(404, forbidden), ['model'], 0), { field: null }, 'the name is right');
  for (const error of [nowhere, forbidden])
    t.match(
      failureOfReply(reply(404, error), ['model', 'provider'], 0),
      { field: 'provider' },
      'no vendor at our price',
    );
});

t.test('only names that we sent come out, and only of 400 and 422', async (t) => {
  const sent = ['model', 'messages', 'max_tokens', 'user'];
  const body = (message: string) => ({ error: { message } });
  t.equal(rejectedField(sent, 400, body("Unknown parameter: 'sk-secret'.")), null);
  t.equal(rejectedField(sent, 400, body("'messages' repeats the prompt")), null);
  t.equal(rejectedField(sent, 401, body("'user' is wrong")), null);
  t.equal(rejectedField(sent, 400, body("'user' is wrong")), 'user');
  t.equal(rejectedField(sent, 422, { detail: [{ loc: ['body', 'max_tokens'], msg: 'no' }] }), 'max_tokens');
  t.equal(rejectedField(sent, 400, { error: { param: 'model', message: 'x' } }), 'model');
  t.equal(rejectedField(sent, 400, '<html>'), null);
  t.equal(
    rejectedField(sent, 400, { error: { message: 'no', failed_generation: "'model'" } }),
    null,
    'written by a model',
  );
  t.equal(
    rejectedField(
      ['thinking', 'output_config'],
      400,
      body('"thinking.type.disabled" is not supported. Use "output_config.effort"'),
    ),
    'thinking',
  );
  const effort = body('This model does not support the effort parameter.');
  t.equal(rejectedField(['thinking', 'output_config'], 400, effort), 'output_config');
  t.equal(rejectedField(['thinking'], 400, effort), null);
  const deep = Array.from({ length: 200 }).reduce<unknown>((inner) => [inner], "'user'");
  t.equal(rejectedField(sent, 400, deep), null, 'a body without end is not followed');
});

t.test('every field of a vote has a capability to change', async (t) => {
  const fields =
    'model max_tokens max_completion_tokens temperature seed random_seed user safety_identifier metadata response_format tools tool_choice output_config reasoning_effort reasoning thinking chat_template_kwargs';
  for (const field of fields.split(' ')) t.notMatch(capabilityFor(field, dialectOf('compatible')), /extra_body/, field);
  t.match(capabilityFor('provider', dialectOf('openrouter')), /"price" of the model.*extra_body/);
});
