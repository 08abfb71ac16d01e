import type { PollSpec, Vote } from '@eloquentpoll/contracts';

export const seat = (model_id: string, family = model_id, reserve_u = 1_000) => ({
  model_id,
  family,
  reserve_u,
  failure_rate: 0,
  p90_ms: 2_000,
});

export const SPEC: PollSpec = {
  question: 'Which one is it?',
  options: ['__proto__', 'tie', 'C'],
  panel_name: 'broad',
  confidence_threshold: 0.9,
  max_cost_u: 1_000_000,
  min_votes: 3,
  search: false,
  seed: 'seed',
  seats: ['a/1', 'b/1', 'c/1', 'd/1'].map((id) => seat(id)),
  simulated: true,
};

export const vote = (place: number, option: number | null, billed_u = option === null ? 0 : 100): Vote => ({
  seat: place,
  model_id: SPEC.seats[place]!.model_id,
  option,
  error: option === null ? 'timeout' : null,
  latency_ms: 10 * (place + 1),
  billed_u,
  provider_cost_u: null,
  labels: ['QJ', 'ZR', 'XK'],
  calls: 1,
  searched: false,
});
