import type { PollsContext } from '../context.ts';

export interface RunProgress {
  received: number;
  total: number;
}

/** The progress of running polls, by id. Polls without a record are left out; while Redis is away, all are. */
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
