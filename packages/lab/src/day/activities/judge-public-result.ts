import { Type } from '@sinclair/typebox';
import type { PollOfDay } from '../judge-answer.ts';
import { type DayWorld, judgeAnswer } from '../world.ts';

const PublicWinner = Type.Object({ winning_option: Type.Union([Type.String(), Type.Null()]) });

export interface ShortAnswer {
  readonly resultId: string;
  readonly winner: string | null;
  readonly costUsd: number;
}

/** A short answer has no votes: they are in the public result that it names. */
export async function judgePublicResult(
  world: DayWorld,
  way: string,
  poll: PollOfDay,
  { resultId, winner, costUsd }: ShortAnswer,
): Promise<void> {
  const { isExpected, value, read } = await world.call({ way: 'public result', path: `/api/results/${resultId}` });
  if (!isExpected) return;
  judgeAnswer(world, way, { ...poll, answer: value, by: null, saidUsd: costUsd });
  const { winning_option: published } = read(PublicWinner);
  if (published !== winner) world.diary.note(`${way}: it says ${winner}, its result ${resultId} says ${published}`);
}
