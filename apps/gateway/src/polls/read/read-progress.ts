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
  const briefs = await bus.runs.briefs(pollIds).catch(() => []);
  return new Map(
    briefs.flatMap((brief, i) =>
      brief?.status === 'running' ? [[pollIds[i]!, JSON.parse(brief.progress) as RunProgress]] : [],
    ),
  );
}
