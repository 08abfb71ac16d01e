import { Value } from '@sinclair/typebox/value';
import type { PresetName } from '../fixture/voting-panel.ts';
import type { Chance } from '../terminal/chance.ts';
import type { SendCall } from './call.ts';
import { type DayUser, inMicroUsd, remember } from './day-user.ts';
import type { Diary } from './diary.ts';
import { JudgedAnswer, type PollOfDay, problemsOf } from './judge-answer.ts';
import type { ProviderRecord } from './provider-record.ts';
import type { Receiver } from './receiver.ts';
import type { AskedQuestion, RecordedQuestions } from './recorded-questions.ts';

/** Everything that the activities of users need. */
export interface DayWorld {
  readonly call: SendCall;
  readonly diary: Diary;
  readonly questions: RecordedQuestions;
  readonly chance: Chance;
  readonly people: readonly DayUser[];
  readonly receiver: Receiver;
  readonly record: ProviderRecord;
  readonly baseUrl: string;
  /** Aborted if the day ends early. */
  readonly signal: AbortSignal;
}

/** Performs one thing that a user does, from start to end. */
export type Activity = (world: DayWorld) => Promise<void>;

let asked = 0;

export function newQuestion({ questions, chance }: DayWorld): AskedQuestion {
  asked += 1;
  return questions.ask(chance.whole(0, questions.count - 1), `caller ${asked}`);
}

const PRESETS = ['broad', 'broad', 'broad', 'fast', 'fast', 'strong'] as const;
export const anyPreset = ({ chance }: DayWorld): PresetName => chance.pick(PRESETS);
export const anyPerson = ({ chance, people }: DayWorld) => chance.pick(people);

/** Checks a whole answer against what it must be, and records its cost for the account that asked. */
export function judgeAnswer(
  { diary, questions, record }: DayWorld,
  way: string,
  {
    answer,
    by,
    sessionId = null,
    saidUsd,
    ...poll
  }: PollOfDay & {
    /** The parsed answer, of any shape. */
    answer: unknown;
    by: DayUser | null;
    sessionId?: string | null;
    /** The cost, if the result itself does not contain it. */
    saidUsd?: number;
  },
): void {
  if (!Value.Check(JudgedAnswer, answer)) {
    const problem = Value.Errors(JudgedAnswer, answer).First();
    diary.note(`${way}: there is no result in the answer: ${problem?.path} ${problem?.message}`);
    return;
  }
  diary.judge(way, problemsOf(questions, poll, answer));
  const { poll_id: resultId, votes, costs } = answer;
  const { panel, isCanceled = false } = poll;
  record.compare({ way, resultId, votes, costs, saidUsd, factor: panel.factor, isCanceled });
  if (!by) return;
  by.chargedU += inMicroUsd(answer.costs?.total_estimated_cost ?? 0);
  remember(by, { resultId: answer.poll_id, sessionId, question: poll.asked.question });
}
