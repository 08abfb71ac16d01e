/** The groups of operations in the API document. */
export const TAGS = [
  { name: 'Polling', description: 'Run a poll: synchronously, as a session, as a stream or in shorthand.' },
  { name: 'Batches', description: 'Hand over many polls in one request, and read what became of them.' },
  { name: 'Results', description: 'What polls came to: your own as lists, any as long as you hold its id.' },
  {
    name: 'Feedback',
    description: 'Say whether an outcome was right, and find the operation that does what you want.',
  },
  { name: 'Account', description: 'Log in, keep API keys, see and fill the balance.' },
  {
    name: 'Webhooks',
    description: 'Hear of the end of polls and batches: endpoints, their secrets, and the log of what was sent.',
  },
  { name: 'Agents', description: 'The service as agents speak to it: tools of MCP, tasks of A2A, and their cards.' },
  {
    name: 'Chat',
    description: 'Polls as chat completions, for clients of the OpenAI API: base URL `/v1`, one model per panel.',
  },
  { name: 'System', description: 'Health, documentation and discovery. No credentials.' },
  {
    name: 'Files',
    description: 'Skill and instruction files for coding agents, under the paths where each of them looks.',
  },
] as const;
