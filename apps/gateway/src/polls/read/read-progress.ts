import type { PollsContext } from '../context.ts';

export interface RunProgress {
  received: number;
  total: number;
}

/** How running polls stand, by their ids. One of which nothing is known, or while Redis is away, is left out. */
export async function readProgress(
  { bus }: PollsContext,
  pollIds: readonly string[],
): Promise<Map<string, RunProgress>> {
  if (pollIds.length === 0) return new Map();
  const pipeline = bus.redis.pipeline();
  bus.runs.batch(pipeline, pollIds);
  const replies = await pipeline.exec().catch(() => null);
  const briefs = pollIds.map((id, i) => [id, bus.runs.parse(replies?.[0]?.[1], i)] as const);
  return new Map(
    briefs.flatMap(([id, brief]) =>
      brief?.status === 'running' ? [[id, JSON.parse(brief.progress) as RunProgress]] : [],
    ),
  );
}
