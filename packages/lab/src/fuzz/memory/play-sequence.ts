import type { FuzzedService } from '../fuzzed-service.ts';
import { codeOf, type Judge, parsed } from '../judge-answer.ts';
import type { FuzzedOperation } from '../operations.ts';
import type { FuzzAnswer, Sender, Sent } from '../send-request.ts';
import { learnFrom } from './learn.ts';
import { learnFromLeft } from './learn-left.ts';
import { OWN_LISTS, wrongList } from './own-lists.ts';
import { createPeople, type People, retriedWhileBusy } from './people.ts';
import type { Prepared, Requests } from './prepare-request.ts';
import { Remembered } from './remembered.ts';
import { type AnsweredRequest, brokenRule, wrongRepetition } from './rules.ts';
import type { FuzzStep, Party } from './step.ts';

export interface Playing {
  readonly service: FuzzedService;
  readonly sender: Sender;
  readonly judge: Judge;
  readonly requests: Requests;
  readonly operations: ReadonlyMap<string, FuzzedOperation>;
  readonly accountIds: Set<string>;
  readonly receiver: string;
  /** Called with every answer: operation, status, error code and duration. */
  onAnswer(operation: string, status: number, code: string, tookMs: number): void;
}

export interface SequenceFault {
  /** Index of the step; for the final lists, the number of steps. */
  readonly at: number;
  readonly operation: string;
  readonly problem: string;
  readonly sent: Sent;
}

export interface PlayedSequence {
  /** The answers that were reached, and after which step. */
  readonly reached: ReadonlyMap<string, number>;
  readonly fault: SequenceFault | null;
}

/** Plays a sequence with two new accounts until its end or its first fault. */
export async function playSequence(steps: readonly FuzzStep[], playing: Playing): Promise<PlayedSequence> {
  const people = await retriedWhileBusy(() => createPeople(playing.service, playing.accountIds));
  const play = new Play(playing, people);
  for (const [at, step] of steps.entries()) {
    const fault = await play.step(step, at);
    if (fault) return { reached: play.reached, fault };
  }
  return { reached: play.reached, fault: await play.lists(steps.length) };
}

class Play {
  readonly reached = new Map<string, number>();
  readonly #remembered = new Remembered();
  /** The latest good request with an Idempotency-Key, by operation and actor. */
  readonly #repeatable = new Map<string, AnsweredRequest>();
  readonly #playing: Playing;
  readonly #people: People;

  constructor(playing: Playing, people: People) {
    this.#playing = playing;
    this.#people = people;
  }

  async step(step: FuzzStep, at: number): Promise<SequenceFault | null> {
    const operation = this.#playing.operations.get(step.operation);
    if (!operation) return null;
    const before = this.#repeatable.get(`${step.operation} ${step.actor}`);
    const prepared = await this.#prepared(step, operation, before);
    const fault = (problem: string | null): SequenceFault | null =>
      problem === null ? null : { at, operation: operation.id, problem, sent: prepared.sent };
    if (step.manner === 'left') {
      await this.#playing.sender.leave(prepared.sent);
      learnFromLeft(prepared, this.#remembered, this.#people);
      return null;
    }
    const answers = await Promise.all(
      Array.from({ length: step.manner === 'twice' ? 2 : 1 }, () => this.#send(prepared, at)),
    );
    for (const answer of answers) {
      if (answer instanceof Error) return fault(`no answer: ${answer.message}`);
      const problem = this.#problem(prepared, answer);
      if (problem !== null) return fault(`${problem} (${answer.status}: ${answer.text.slice(0, 300)})`);
      const repeats = before && (step.manner === 'again' || step.manner === 'reused') && hasKey(prepared.sent);
      const wrong = repeats ? wrongRepetition(before, { prepared, answer }, this.#remembered) : null;
      if (wrong !== null) return fault(wrong);
      await this.#learnFrom(prepared, answer);
    }
    const [first, second] = answers as FuzzAnswer[];
    if (first && second && hasKey(prepared.sent) && first.status < 300)
      return fault(wrongRepetition({ prepared, answer: first }, { prepared, answer: second }, this.#remembered));
    return null;
  }

  async #prepared(step: FuzzStep, operation: FuzzedOperation, before: AnsweredRequest | undefined): Promise<Prepared> {
    if (step.manner === 'again' && before) return repeated(before.prepared);
    const { service, receiver, requests } = this.#playing;
    const people = this.#people;
    const ask = async (sent: Sent) => (await this.#playing.sender.send(sent)).text;
    const made = await requests.prepare(step, operation, {
      service,
      people,
      remembered: this.#remembered,
      receiver,
      ask,
    });
    const key = before?.prepared.sent.headers['idempotency-key'];
    if (step.manner !== 'reused' || key === undefined || !before) return made;
    if (before.prepared.sent.body?.equals(made.sent.body ?? Buffer.alloc(0))) return { ...made, manner: 'good' };
    return { ...made, sent: { ...made.sent, headers: { ...made.sent.headers, 'idempotency-key': key } } };
  }

  async #send({ operation, sent }: Prepared, at: number): Promise<FuzzAnswer | Error> {
    const answer = await this.#playing.sender.send(sent).catch((error: Error) => error);
    if (answer instanceof Error) return answer;
    const code = answer.status >= 400 ? (codeOf(parsed(answer.text)) ?? '') : '';
    this.#playing.onAnswer(operation.id, answer.status, code, answer.tookMs);
    const triple = `${operation.id} ${answer.status} ${code}`.trim();
    if (!this.reached.has(triple)) this.reached.set(triple, at);
    return answer;
  }

  #problem(prepared: Prepared, answer: FuzzAnswer): string | null {
    return this.#playing.judge(prepared.sent, answer) ?? brokenRule(prepared, answer, this.#remembered, this.#people);
  }

  async #learnFrom(prepared: Prepared, answer: FuzzAnswer): Promise<void> {
    const { operation, actor, credentials, sent } = prepared;
    learnFrom(prepared, answer, this.#remembered, this.#people);
    const { location } = answer.headers;
    if (operation.id === 'login' && answer.status === 302 && location?.startsWith('http')) {
      const { state, code } = await this.#playing.service.provider.meet(location);
      const cookies = [answer.headers['set-cookie'] ?? []].flat().map((cookie) => cookie.split(';')[0]);
      this.#remembered.note('state', `${code}&state=${state} ${cookies.join('; ')}`, actor);
    }
    if (hasKey(sent) && answer.status < 300 && credentials.access === 'full')
      this.#repeatable.set(`${operation.id} ${actor}`, { prepared, answer });
  }

  /** Checks the lists at the end. */
  async lists(at: number): Promise<SequenceFault | null> {
    for (const party of ['a', 'b'] as const) {
      const fault = await this.#listsOf(party, at);
      if (fault) return fault;
    }
    return null;
  }

  async #listsOf(party: Party, at: number): Promise<SequenceFault | null> {
    const person = this.#people[party];
    const held = person.isDeleted ? undefined : person.keys.find(({ access }) => access === 'full');
    if (!held) return null;
    for (const list of OWN_LISTS) {
      const live = this.#remembered.of(list.kind, party).map(({ value }) => value);
      const ended = this.#remembered.of(list.kind, party, 'ended').map(({ value }) => value);
      if (live.length + ended.length === 0) continue;
      const headers = { authorization: `Bearer ${held.value}` };
      const sent = { method: 'GET', target: list.target, headers, body: null };
      const operation = this.#playing.operations.get(list.operation)!;
      const credentials = { headers, access: 'full', way: 'key', held } as const;
      const prepared: Prepared = { operation, actor: party, manner: 'good', sent, names: [], credentials };
      const answer = await this.#send(prepared, at);
      const problem =
        answer instanceof Error
          ? `no answer: ${answer.message}`
          : (this.#problem(prepared, answer) ?? unlisted(answer) ?? wrongList(list, answer.text, live, ended));
      if (problem !== null) return { at, operation: list.operation, problem, sent };
    }
    return null;
  }
}

const unlisted = ({ status }: FuzzAnswer): string | null => (status === 200 ? null : `a list is answered ${status}`);

/** Its key or cookie may have ended since then. */
const repeated = (before: Prepared): Prepared => ({
  ...before,
  manner: 'again',
  credentials: { ...before.credentials, access: before.credentials.held?.access ?? before.credentials.access },
});

/** A stream that resumes from its `Last-Event-ID` ignores key and body. */
const hasKey = ({ headers }: Sent): boolean =>
  headers['idempotency-key'] !== undefined && headers['last-event-id'] === undefined;
