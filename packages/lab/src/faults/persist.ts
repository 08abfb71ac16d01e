import { anyQuestion } from '../fixture/polls.ts';
import { sleepUnlessAborted } from '../fixture/sleep-unless-aborted.ts';
import type { Chance } from '../terminal/chance.ts';
import type { KeptAnswer, RecordedOperation, Recorder } from './operations.ts';
import {
  BUDGET_REACHED,
  type CallerAnswer,
  type CallerRequest,
  type Gateway,
  isUnknown,
  sendOperation,
} from './request.ts';

// How callers retry: at the next gateway each time, until the answer is definite or time is up.

interface PersistOptions {
  recorder: Recorder;
  gateways: readonly Gateway[];
  chance: Chance;
  /** After it is aborted, no answer can become definite. */
  quit: AbortSignal;
}

interface Persistence {
  /** The first definite answer; null if time was up before. */
  persist(
    operation: RecordedOperation,
    sent: CallerRequest,
    note?: (answer: CallerAnswer) => void,
    enough?: (answer: CallerAnswer) => boolean,
  ): Promise<CallerAnswer | null>;
  pause(ms: number): Promise<void>;
  conclude(operation: RecordedOperation, answer: KeptAnswer | null): void;
  anyGateway(): Gateway;
  after(gateway: Gateway): Gateway;
  question(): { question: string; options: readonly string[]; preset: string };
}

/** A caller that was refused because of the spend ceiling waits this long. */
const BUDGET_PAUSE_MS = 1_000;

export function persistence({ recorder, gateways, chance, quit }: PersistOptions): Persistence {
  const anyGateway = () => chance.pick(gateways);
  const after = (gateway: Gateway) => gateways[(gateways.indexOf(gateway) + 1) % gateways.length]!;

  const pause = (ms: number): Promise<void> => sleepUnlessAborted(ms * chance.between(0.75, 1.25), quit);

  return {
    pause,
    anyGateway,
    after,
    async persist(operation, sent, note = () => {}, enough = (answer) => !isUnknown(answer)) {
      let gateway = anyGateway();
      for (let pauseMs = 50; !quit.aborted; pauseMs = Math.min(pauseMs * 2, 1_000)) {
        const answer = await sendOperation(recorder, operation, gateway, sent, note);
        if (answer?.code === BUDGET_REACHED) await pause(BUDGET_PAUSE_MS);
        if (answer && enough(answer)) return answer;
        if (answer && answer.status < 300) pauseMs = 25;
        gateway = after(gateway);
        await pause(pauseMs);
      }
      return null;
    },
    conclude(operation, answer) {
      if (!answer) return;
      if (answer.status < 300) recorder.end(operation, 'ok');
      else recorder.end(operation, isRefusal(answer) ? 'refused' : 'failed');
    },
    question() {
      const { question, options, panel } = anyQuestion(chance);
      return { question, options, preset: panel };
    },
  };
}

const isRefusal = ({ status, code }: KeptAnswer): boolean => status === 402 || code === BUDGET_REACHED;
