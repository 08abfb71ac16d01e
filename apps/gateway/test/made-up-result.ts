import type { ResultDetail } from '@eloquentpoll/contracts';

/** A result as a page may have to show it, without a poll. `choices` are options by number; null is a failed vote. */
export function madeUpResult(
  told: Partial<ResultDetail> & { choices?: readonly (number | null)[] } = {},
): ResultDetail {
  const { choices = [1, 1, null, 1, 0, 1, 1], ...given } = told;
  const options = given.options ?? ['301 Moved Permanently', '308 Permanent Redirect', '307 Temporary Redirect'];
  const counts = options.map((_, i) => choices.filter((vote) => vote === i).length);
  const most = Math.max(...counts);
  const leaders = options.filter((_, i) => counts[i] === most && most > 0);
  const winner = leaders.length === 1 ? leaders[0]! : null;
  const failed = choices.filter((vote) => vote === null).length;
  return {
    poll_id: 'EP-2026-11-20-0123456789abcdef',
    status: most === 0 ? 'failed' : 'success',
    question: 'Which HTTP status code tells a client to repeat a POST, unchanged, at a new permanent address?',
    options,
    poll_type: 'fptp',
    winning_option: winner,
    is_tie: leaders.length > 1,
    confidence_threshold: 0.95,
    max_cost_usd: 1,
    early_terminated: true,
    termination_reason: 'confidence',
    models_skipped: 2,
    tally: Object.fromEntries(options.map((option, i) => [option, counts[i]!])),
    votes: choices.map((vote, i) => ({
      model_id: MODELS[i % MODELS.length]!,
      success: vote !== null,
      chosen_option: vote === null ? null : options[vote]!,
      transition: 'vote',
      latency_ms: Math.min(420 * (i + 1), 310 + ((i * 977) % 1_900)),
      error: vote === null ? 'timeout' : null,
    })),
    models_requested: choices.length,
    models_succeeded: choices.length - failed,
    models_failed: failed,
    timing: {
      gather_ms: 3_240,
      total_ms: 3_310,
      arrivals: choices.map((_, i) => ({ at_ms: 420 * (i + 1), confidence: CLIMB[i] ?? null })),
    },
    created_at: '2026-11-20T14:03:09.000Z',
    confidence: winner === null ? null : 0.973,
    preset: 'broad',
    simulated: false,
    ...given,
  };
}

const CLIMB = [0.41, 0.68, 0.66, 0.81, 0.74, 0.9, 0.973];

const MODELS = [
  'openai/gpt-oss-120b',
  'anthropic/claude-haiku-4.5',
  'google/gemini-3-flash',
  'mistralai/mistral-large-2512',
  'qwen/qwen3-235b-a22b',
  'deepseek/deepseek-v3.2',
  'meta-llama/llama-4-maverick',
  'x-ai/grok-4-fast',
  'moonshotai/kimi-k2',
];
