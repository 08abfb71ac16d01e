/** The groups of operations in the API document. */
export const TAGS = [
  { name: 'Polling', description: 'Run a poll synchronously, as a session, as a stream or in shorthand.' },
  { name: 'Batches', description: 'Submit many polls in one request, and read their results.' },
  { name: 'Results', description: 'Results of polls: lists of your own, and every result whose id you know.' },
  {
    name: 'Feedback',
    description: 'Report whether an outcome was right, and find the right operation for a task.',
  },
  { name: 'Account', description: 'Sign in, manage API keys, read the balance and add funds.' },
  {
    name: 'Webhooks',
    description: 'Notifications of the end of polls and batches: endpoints, secrets and the log of deliveries.',
  },
  { name: 'Agents', description: 'For agents: MCP tools, A2A tasks, and their cards.' },
  {
    name: 'Chat',
    description: 'Polls as chat completions, for clients of the OpenAI API: base URL `/v1`, one model per panel.',
  },
  { name: 'System', description: 'Health, documentation and discovery. No credentials.' },
  {
    name: 'Files',
    description: 'Skill and instruction files for coding agents, at the paths that they use.',
  },
] as const;
