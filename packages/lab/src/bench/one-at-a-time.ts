import type { Bench } from './bench.ts';
import { answerReader, connectTo } from './http-bytes.ts';
import { pollRequest } from './polls.ts';

/** Polls on one connection, each after the end of the one before. */
export interface OneAtATime extends Disposable {
  /** Runs so many polls; returns how many milliseconds each took. */
  poll(times: number): Promise<number[]>;
}

export async function oneAtATime(bench: Bench, { port }: { port: number }): Promise<OneAtATime> {
  const socket = await connectTo(port);
  const read = answerReader(socket);
  return {
    async poll(times) {
      const took: number[] = [];
      for (let i = 0; i < times; i++) {
        const begun = performance.now();
        socket.write(pollRequest(bench, '/api/poll'));
        const status = await read();
        if (status !== 200) throw new Error(`a poll was answered with ${status}`);
        took.push(performance.now() - begun);
      }
      return took;
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}
