// All commands and options. Help, completion and "did you mean" are derived from them.

export const COMMANDS = {
  ask: 'run a poll',
  result: 'show a result',
  watch: 'follow running polls to their ends',
  cancel: 'stop a running poll or batch',
  delete: 'delete a poll or a batch for good',
  open: 'open a result in the browser',
  batch: 'run a file of polls',
  eval: 'run a file of polls with right answers, and print a report',
  batches: 'list your batches',
  verify: 'check a receipt',
  polls: 'find your polls',
  history: 'list your results',
  balance: 'your balance, and what you have spent',
  usage: 'your polls and charges by day, key, preset or label',
  export: 'all data of your account, as JSON lines',
  keys: 'list, create, limit and revoke API keys',
  login: 'get a key for this computer through the browser',
  logout: 'revoke and remove that key',
  completion: 'print shell completion',
  help: 'show the help',
} as const;
export type CommandName = keyof typeof COMMANDS;

export const isCommand = (word: string): word is CommandName => Object.hasOwn(COMMANDS, word);

export const PRESETS = ['broad', 'fast', 'strong'] as const;
export const STATUSES = ['running', 'completed', 'failed'] as const;
export const BATCH_STATUSES = ['running', 'canceling', 'completed', 'canceled', 'expired'] as const;
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export const KEY_ACTIONS = ['list', 'create', 'change', 'revoke'] as const;
export const RESETS = ['never', 'daily', 'monthly'] as const;

export const OPTIONS = {
  option: { type: 'string', multiple: true },
  preset: { type: 'string' },
  models: { type: 'string' },
  panel: { type: 'string' },
  threshold: { type: 'string' },
  'max-cost': { type: 'string' },
  reasons: { type: 'boolean' },
  metadata: { type: 'string', multiple: true },
  'idempotency-key': { type: 'string' },
  free: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  out: { type: 'string' },
  format: { type: 'string' },
  'skip-invalid': { type: 'boolean' },
  again: { type: 'boolean' },
  detach: { type: 'boolean' },
  yes: { type: 'boolean' },
  json: { type: 'boolean' },
  status: { type: 'string' },
  close: { type: 'boolean' },
  after: { type: 'string' },
  limit: { type: 'string' },
  offset: { type: 'string' },
  by: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  'limit-usd': { type: 'string' },
  reset: { type: 'string' },
  until: { type: 'string' },
  'read-only': { type: 'boolean' },
  label: { type: 'string' },
  keys: { type: 'string' },
  days: { type: 'string' },
  'no-browser': { type: 'boolean' },
  url: { type: 'string' },
  key: { type: 'string' },
  session: { type: 'string' },
  version: { type: 'boolean', short: 'V' },
  help: { type: 'boolean', short: 'h' },
} as const;
