import { type ErrorCode, LIMITS } from '@eloquentpoll/contracts';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { answersOf } from '../../http/hooks/declared-answers.ts';
import { runsFreePolls } from '../../polls/order/runs-free-polls.ts';
import type { Facts } from './facts.ts';
import { guidanceOf } from './operation-guidance.ts';

// The `x-agent-hints` of every operation in OpenAPI: cost, latency, when to use it and its side effects. They are
// derived from the route's declaration; the routing descriptions are derived from them.

export interface AgentHints {
  cost: { free: boolean; min_usd: number; typical_usd: number; max_usd: number };
  /** Null if no model is called. */
  latency: { p50_ms: number | null; p95_ms: number | null; streaming: boolean };
  usage: {
    when_to_use: string[];
    when_not_to_use: string[];
    idempotent: boolean;
    idempotency_key: boolean;
    side_effects: string[];
  };
  alternatives: string[];
  errors: ErrorCode[];
}

/** Adds the hints to all routes that are registered afterwards. */
export function giveAgentHints(app: FastifyInstance, facts: Facts): void {
  app.addHook('onRoute', (route) => {
    if (route.method === 'HEAD' || route.schema?.hide) return;
    const hints = { 'x-agent-hints': hintsFor(route, facts) };
    route.schema = { ...route.schema, ...hints };
  });
}

/** The path in OpenAPI's notation. */
export const documentedPath = (url: string): string => url.replace(/:(\w+)/g, '{$1}');

function hintsFor({ method, url, schema, config }: RouteOptions, facts: Facts): AgentHints {
  const name = `${[method].flat()[0]} ${documentedPath(url)}`;
  const guidance = guidanceOf(name, facts);
  const answers = Object.values(answersOf(schema));
  return {
    ...costAndLatency(name, facts),
    usage: {
      when_to_use: [guidance?.use ?? `${schema?.summary}.`],
      when_not_to_use: guidance?.not === undefined ? [] : [guidance.not],
      idempotent: method === 'GET' || method === 'PUT' || method === 'DELETE',
      idempotency_key: config?.idempotent === true,
      side_effects: [...(guidance?.effects ?? [])],
    },
    alternatives: [...(guidance?.alternatives ?? [])],
    errors: [...new Set(answers.flatMap(({ codes = [] }) => codes))],
  };
}

type CostAndLatency = Pick<AgentHints, 'cost' | 'latency'>;

/** How the caller of a paid poll gets the outcome: waits, streams, or leaves. For a batch the figures are per row. */
const PAID: Readonly<Record<string, 'waits' | 'streams' | 'leaves'>> = {
  'POST /api/poll': 'waits',
  'POST /api/polls': 'leaves',
  'POST /api/poll/stream': 'streams',
  'POST /api/batches': 'leaves',
  'POST /dashboard/batches': 'leaves',
  'POST /api/mcp': 'waits',
  'POST /api/a2a/tasks/send': 'waits',
};

/** Free without a key; with a key they may cost as much as a poll. */
const FREE_OR_PAID = ['POST /api/quick-poll', 'POST /v1/chat/completions'];

function costAndLatency(name: string, facts: Facts): CostAndLatency {
  const { broad, fast, free } = facts.figures;
  const isEither = FREE_OR_PAID.includes(name);
  if (isEither && runsFreePolls(facts)) {
    return {
      cost: { free: true, min_usd: 0, typical_usd: 0, max_usd: LIMITS.max_cost_usd.max },
      latency: { p50_ms: free.latency_ms.p50, p95_ms: free.latency_ms.p95, streaming: false },
    };
  }
  const caller = isEither ? 'waits' : PAID[name];
  if (caller === undefined) return { cost: NOTHING, latency: AT_ONCE };
  const cost = {
    free: false,
    min_usd: fast.cost_usd.min,
    typical_usd: broad.cost_usd.expected,
    max_usd: LIMITS.max_cost_usd.max,
  };
  if (caller === 'leaves') return { cost, latency: AT_ONCE };
  const { p50, p95 } = broad.latency_ms;
  return { cost, latency: { p50_ms: p50, p95_ms: p95, streaming: caller === 'streams' } };
}

const NOTHING = { free: true, min_usd: 0, typical_usd: 0, max_usd: 0 };
const AT_ONCE = { p50_ms: null, p95_ms: null, streaming: false };
