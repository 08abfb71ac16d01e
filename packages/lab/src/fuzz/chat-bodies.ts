import fc, { type Arbitrary } from 'fast-check';

// Bodies of chat completions as clients send them: options in the text, in a schema or in a tool.

/** `orders` are valid polls. */
export function chatBodies(orders: Arbitrary<unknown>): Arbitrary<unknown> {
  const forms = fc.constantFrom('text', 'json_schema', 'tool', 'json_object', 'none');
  return fc
    .record({ order: orders, form: forms, system: fc.boolean(), model: MODELS, more: MORE })
    .map(({ order, form, system, model, more }) => {
      const { question, options } = order as { question: string; options: string[] };
      const text =
        form === 'text' ? `${question} [${options.map((option) => JSON.stringify(option)).join(', ')}]` : question;
      const messages = [...(system ? [{ role: 'system', content: 'Be fair.' }] : []), { role: 'user', content: text }];
      return { model, messages, ...optionsIn(form, options), ...more };
    });
}

const MODELS = fc.constantFrom(...['broad', 'fast', 'strong', 'free', 'none'].map((panel) => `eloquentpoll/${panel}`));

const MORE = fc.record(
  {
    stream: fc.boolean(),
    stream_options: fc.constant({ include_usage: true }),
    n: fc.constantFrom(1, 2),
    temperature: fc.constantFrom(0, 2, 'hot'),
    reasons: fc.boolean(),
    max_cost_usd: fc.constantFrom(0.5, 0, 1e9),
    confidence_threshold: fc.constantFrom(0, 0.8, 1),
  },
  { requiredKeys: [] },
);

function optionsIn(form: string, options: readonly string[]): object {
  const schema = { type: 'object', properties: { answer: { enum: options } }, required: ['answer'] };
  if (form === 'tool') {
    const tools = [{ type: 'function', function: { name: 'answer', parameters: schema } }];
    return { tools, tool_choice: 'required' };
  }
  if (form === 'json_schema') return { response_format: { type: form, json_schema: { name: 'answer', schema } } };
  return form === 'json_object' ? { response_format: { type: form } } : {};
}
