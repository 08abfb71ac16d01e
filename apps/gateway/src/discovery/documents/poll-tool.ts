import { LIMITS, PollRequest, PollResponse } from '@eloquentpoll/contracts';
import { type TSchema, Type } from '@sinclair/typebox';
import { PROFILES } from '../../polls/order/profiles.ts';
import { inlined } from './inlined.ts';

// A poll as a tool, with self-contained schemas, for MCP, the node spec and other documents.

const { question, options, poll_type, preset, models, panel } = PollRequest.properties;
const { confidence_threshold, max_cost_usd, profile, reasons, metadata, expires_in } = PollRequest.properties;

/** Some callers send every default of a schema; beside `profile`, `models` or `panel` these would change the order. */
function withoutDefault<T extends TSchema>(schema: T, description: string): T {
  const said = { ...schema, description };
  delete said.default;
  return said;
}
const unlessProfile = (value: number): string => `Default: ${value}, unless \`profile\` sets another.`;

/** Without aliases, which readers of the schema do not need. */
const poll = {
  question: {
    ...Type.Required(Type.Object({ question })).properties.question,
    description: 'The question that the models vote on.',
  },
  options: { ...options, description: 'The options to choose from.' },
  poll_type,
  preset: withoutDefault(
    preset,
    `${preset.description} Default, without \`profile\`, \`models\` and \`panel\`: \`${preset.default}\`.`,
  ),
  models,
  panel,
  confidence_threshold: withoutDefault(
    confidence_threshold,
    `${confidence_threshold.description} ${unlessProfile(LIMITS.confidence_threshold.default)}`,
  ),
  max_cost_usd: withoutDefault(
    max_cost_usd,
    `The maximum cost of the poll in US dollars. ${unlessProfile(LIMITS.max_cost_usd.default)}`,
  ),
  reasons,
  metadata,
  expires_in,
  profile: { ...profile, enum: PROFILES.map(({ name }) => name) },
};
const body: TSchema = Type.Object(poll);
const input: TSchema = Type.Object({
  ...poll,
  idempotency_key: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'A retry with the same key within 24 hours returns the first result and costs nothing. With a key, the poll continues if the call is canceled or its connection breaks.',
    }),
  ),
});

/** The body of POST /api/poll, where the idempotency key is a header. */
export const pollBody = (): unknown => inlined(body);

export const POLL_TOOL = {
  name: 'poll_question',
  description:
    'Ask several AI models one multiple-choice question; each votes for one option, and the poll stops as soon as its outcome is certain enough. Show `verdict.text` of the result to people.',
  get inputSchema() {
    return inlined(input);
  },
  get outputSchema() {
    return inlined(PollResponse);
  },
  annotations: {
    title: 'Poll several models',
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: true,
  },
} as const;
