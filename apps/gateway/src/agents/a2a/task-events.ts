import type { ProgressSnapshot } from '@eloquentpoll/contracts';
import { tallyByOption } from '@eloquentpoll/polls';
import { wasCanceled } from '@eloquentpoll/storage';
import { jsonLine } from '../../http/json-line.ts';
import type { EventStream, StreamSource } from '../../http/sse/event-stream.ts';
import type { PollsContext } from '../../polls/context.ts';
import type { PollEnd, PollFollower, PollListener } from '../../polls/run/poll-follower.ts';
import { endStream, readOutcomeUntil } from '../../polls/run/read-outcome.ts';
import { progressSentence } from '../progress-sentence.ts';
import type { FoundTask } from './find-task.ts';
import type { A2aCall } from './read-call.ts';
import { type Task, taskOf, taskText } from './task.ts';
import { toStreamedArtifact, toStreamedStatus, toStreamedTask } from './to-wire.ts';

type Streamed = FoundTask & { call: A2aCall };

/** Writes what a follower receives about a task's poll to an event stream, each event as a JSON-RPC response. */
export class TaskEvents implements PollListener, StreamSource {
  readonly #context: PollsContext;
  readonly #stream: EventStream;
  readonly #follower: PollFollower;
  readonly #streamed: Streamed;

  constructor(context: PollsContext, stream: EventStream, follower: PollFollower, streamed: Streamed) {
    this.#context = context;
    this.#stream = stream;
    this.#follower = follower;
    this.#streamed = streamed;
    stream.source = this;
  }

  /** Sends the current task; false if it has ended and nothing follows. */
  begin(task: Task): boolean {
    const opening = this.#event(toStreamedTask(this.#context.config, this.#streamed.call.version, task));
    if (task.state === 'working') this.#stream.send(opening);
    else this.#stream.end(opening);
    return task.state === 'working';
  }

  onSnapshot(snapshot: ProgressSnapshot): void {
    const { names, poll, call } = this.#streamed;
    const { options } = poll.spec;
    const leader = snapshot.leader === null ? null : (options[snapshot.leader] ?? null);
    this.#stream.send(
      this.#event(
        toStreamedStatus(call.version, names, {
          state: 'working',
          at: new Date(),
          text: progressSentence(snapshot, options),
          messageId: `${names.id}-${snapshot.seq}`,
          metadata: { progress: snapshot.progress, tally: tallyByOption(options, snapshot.tally), leader },
        }),
      ),
    );
  }

  onEnd(end: PollEnd): void {
    endStream(this.#context, this.#stream, this.#streamed.poll.id, () => this.#finish(end));
  }

  onOverdue(): void {
    this.#follower[Symbol.dispose]();
    this.#stream.end();
  }

  onClose(): void {
    this.#follower[Symbol.dispose]();
  }

  async #finish(end: PollEnd): Promise<void> {
    const { poll, names, call } = this.#streamed;
    const result = await readOutcomeUntil(this.#context, poll.id, end, undefined, () => this.#stream.closed);
    // The stream ends without a last event, as after an error below. The client subscribes again once Postgres is back.
    if (result === undefined) return this.#stream.end();
    const finishedAt = new Date();
    const canceledAt = (await wasCanceled(this.#context.storage, poll.id)) ? finishedAt : null;
    const task = taskOf({ ...poll, status: end.status, finishedAt, canceledAt }, result, names);
    const status = { state: task.state, at: task.at, text: taskText(task), messageId: `${names.id}-${task.state}` };
    const artifact = result ? this.#event(toStreamedArtifact(call.version, names, result)) : '';
    this.#stream.end(artifact + this.#event(toStreamedStatus(call.version, names, status)));
  }

  #event(result: object): string {
    return `data: ${jsonLine({ jsonrpc: '2.0', id: this.#streamed.call.rpcId ?? null, result })}\n\n`;
  }
}
