import { type Static, Type } from '@sinclair/typebox';
import { LIMITS } from './limits.ts';
import { Count, literals, nullable } from './vocabulary.ts';

// What one can want from the service, in a form that a program can match words against.

const Parameters = Type.Object({}, { additionalProperties: true });

const Endpoint = Type.Object({
  method: literals(['GET', 'POST']),
  path: Type.String({ description: 'The path, with parameters in braces.' }),
});

export const Intent = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    trigger_phrases: Type.Array(Type.String()),
    parameters: Type.Object({}, { additionalProperties: true, description: 'A JSON Schema (2020-12).' }),
    endpoint: Endpoint,
    mcp_tool: nullable(Type.String({ description: 'The MCP tool that does the same.' })),
    auth: literals(['none', 'bearer', 'cookie']),
    examples: Type.Array(Type.Object({ text: Type.String(), parameters: Parameters })),
  },
  { $id: 'Intent' },
);
export type Intent = Static<typeof Intent>;

export const IntentListing = Type.Object(
  { version: Type.String(), count: Count, intents: Type.Array(Type.Ref(Intent)) },
  { $id: 'IntentListing' },
);
export type IntentListing = Omit<Static<typeof IntentListing>, 'intents'> & { intents: Intent[] };

export const IntentMatchRequest = Type.Object(
  { text: Type.String({ minLength: 1, maxLength: LIMITS.intent_text, description: 'What the user wants, as text.' }) },
  { $id: 'IntentMatchRequest' },
);
export type IntentMatchRequest = Static<typeof IntentMatchRequest>;

export const IntentMatch = Type.Object(
  {
    intent_id: Type.String(),
    name: Type.String(),
    score: Type.Number({ minimum: 0, maximum: 1 }),
    matched_phrases: Type.Array(Type.String()),
    parameters: Type.Object({}, { additionalProperties: true, description: 'Parameters that were found in the text.' }),
    missing_parameters: Type.Array(Type.String(), {
      description: 'Required parameters that were not found in the text.',
    }),
    endpoint: Endpoint,
  },
  { $id: 'IntentMatch' },
);
export type IntentMatch = Static<typeof IntentMatch>;

export const IntentMatches = Type.Object(
  {
    text: Type.String(),
    matches: Type.Array(Type.Ref(IntentMatch), { maxItems: 5, description: 'Best first.' }),
    best_match: Type.Union([Type.Ref(IntentMatch), Type.Null()]),
  },
  { $id: 'IntentMatches' },
);
export interface IntentMatches {
  text: string;
  matches: IntentMatch[];
  best_match: IntentMatch | null;
}
