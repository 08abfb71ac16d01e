import packageJson from '../../../package.json' with { type: 'json' };
import { POLL_TOOL, pollBody } from './poll-tool.ts';

// A poll as a node for agent graph frameworks: as JSON Schema, as the operation in our OpenAPI document, and as a tool
// in the formats of three vendors.

const NAME = 'consensus_poll';

export function nodeSpec(baseUrl: string): Record<string, unknown> {
  const { description, outputSchema } = POLL_TOOL;
  const input = pollBody();
  const document = `${baseUrl}/api/openapi.json`;
  return {
    name: NAME,
    version: packageJson.version,
    description,
    json_schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: `${baseUrl}/api/graph/node-spec#`,
      input,
      output: outputSchema,
    },
    openapi: { url: document, operationId: 'createPoll', $ref: `${document}#/paths/~1api~1poll/post` },
    tool_spec: {
      openai: { type: 'function', function: { name: NAME, description, parameters: input } },
      anthropic: { name: NAME, description, input_schema: input },
      mcp: POLL_TOOL,
    },
    ports: {
      inputs: [
        { name: 'question', type: 'string' },
        { name: 'options', type: 'string[]' },
      ],
      outputs: [
        { name: 'winning_option', type: 'string|null' },
        { name: 'is_tie', type: 'boolean' },
        { name: 'confidence', type: 'number|null' },
        { name: 'poll_id', type: 'string' },
      ],
    },
  };
}
