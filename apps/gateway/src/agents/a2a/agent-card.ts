// One agent card for A2A 0.1, 0.3 and 1.0. It has the fields that each version requires; readers ignore the others.

export const TASK_PATH = '/api/a2a/tasks/send';

const MODES = ['application/json', 'text/plain'];
const KEY = {
  description: 'An API key, or an access token of the identity provider with this service as audience.',
  scheme: 'bearer',
  bearerFormat: 'ep_k_...',
};

export function agentCard(baseUrl: string): Record<string, unknown> {
  const url = `${baseUrl}${TASK_PATH}`;
  return {
    protocolVersion: '0.3.0',
    name: 'EloquentPoll',
    description:
      'Asks several AI models one multiple-choice question and returns the first-past-the-post winner, with the probability that all models would elect it.',
    url,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: [{ url, transport: 'JSONRPC' }],
    supportedInterfaces: ['1.0', '0.3'].map((protocolVersion) => ({
      url,
      protocolBinding: 'JSONRPC',
      protocolVersion,
    })),
    version: '1.0.0',
    provider: { organization: 'EloquentPoll', url: baseUrl },
    documentationUrl: `${baseUrl}/api/docs`,
    capabilities: {
      streaming: true,
      pushNotifications: false,
      stateTransitionHistory: false,
      extendedAgentCard: false,
    },
    defaultInputModes: MODES,
    defaultOutputModes: MODES,
    securitySchemes: { apiKey: { type: 'http', ...KEY, httpAuthSecurityScheme: KEY } },
    security: [{ apiKey: [] }],
    securityRequirements: [{ schemes: { apiKey: { list: [] } } }],
    supportsAuthenticatedExtendedCard: false,
    authentication: { schemes: ['Bearer'] },
    skills: [
      {
        id: 'run-consensus-poll',
        name: 'Run a consensus poll',
        description:
          'One part of the message contains JSON with a question and 2 to 10 options, optionally with preset, confidence_threshold and max_cost_usd. A text that ends with its options in brackets is also a poll: Which is larger? [A, B]. The artifact contains the result.',
        tags: ['poll', 'consensus', 'decision', 'fact-check'],
        examples: ['{"question":"Which city is the capital of France?","options":["Paris","Lyon"]}'],
        inputModes: MODES,
        outputModes: MODES,
      },
    ],
  };
}
