import { readFile } from 'node:fs/promises';
import { readJson } from '@eloquentpoll/services/json';
import { judgeOf } from '../../fuzz/judge-answer.ts';
import { Description } from '../../fuzz/operations.ts';
import type { Slot } from '../fleet.ts';
import type { CallerRequest } from '../request.ts';
import type { Release } from './release.ts';
import type { Upgrade } from './upgrade.ts';

// Answers must have the shape that the API description of their own release declares, and that of the older release
// too, because its clients read answers of both.

export interface JudgedAnswers {
  judge(by: Pick<Slot, 'release'>, sent: CallerRequest, response: Response, text: string): void;
  readonly count: number;
  readonly wrong: readonly string[];
}

const MAX_KEPT = 20;

export async function judgeAnswers({ from, to }: Upgrade): Promise<JudgedAnswers> {
  const judges = new Map(
    await Promise.all([from, to].map(async (release) => [release, await judgeBy(release)] as const)),
  );
  const wrong = new Set<string>();
  let count = 0;
  return {
    get count() {
      return count;
    },
    get wrong() {
      return [...wrong];
    },
    judge({ release: by }, { method, path, headers }, { status, headers: given }, text) {
      // Answers of 500 and above are judged by another rule; JSON lines have no declared shape.
      if (!by || status >= 500 || given.get('content-type')?.startsWith('application/jsonl')) return;
      count += 1;
      const answer = { status, headers: Object.fromEntries(given), text, tookMs: 0 };
      for (const release of new Set([by, from])) {
        const fault = judges.get(release)!({ method, target: path, headers, body: null }, answer);
        if (fault && wrong.size < MAX_KEPT)
          wrong.add(
            `${method} ${path.replaceAll(/(p[sb]_|EP-)[\w-]+/g, 'ID')} of ${by.name}, for ${release.name}: ${fault}`,
          );
      }
    },
  };
}

async function judgeBy({ description }: Release) {
  return judgeOf(readJson(Description, await readFile(description, 'utf8')), () => null);
}
