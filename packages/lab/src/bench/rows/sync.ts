import { answers, connected } from '../hammer.ts';
import { pollRequest } from '../polls.ts';
import { ms, type Row } from '../rows.ts';
import { interleaved, median, sized } from '../windows.ts';

const EACH = 40;

/** What a poll takes beyond its models, one at a time: seven calls that cost nothing, raw and as a poll. */
export const sync: Row = {
  id: 'sync',
  about: 'a synchronous poll of seven models against seven raw calls at once (U7)',
  async measure(stage, course) {
    const each = sized(course, EACH);
    await using gateway = await stage.gateway();
    await using _worker = await stage.worker();
    const socket = await connected(gateway.port);
    const read = answers(socket);
    const poll = async (): Promise<number> => {
      const begun = performance.now();
      socket.write(pollRequest(stage, '/api/poll'));
      const status = await read();
      if (status !== 200) throw new Error(`a poll was answered with ${status}`);
      return performance.now() - begun;
    };
    for (let i = 0; i < each; i++) await poll();
    const found = await interleaved(
      {
        U7: () => stage.calls(`/u7?n=${each}`),
        async poll() {
          const took: number[] = [];
          for (let i = 0; i < each; i++) took.push(await poll());
          return { p50: median(took) };
        },
      },
      course,
    );
    socket.destroy();
    const [u7, ours] = [found.U7!.p50!, found.poll!.p50!];
    return [
      {
        quantity: 'sync poll overhead p50, one at a time',
        ours: ms(ours),
        anchor: `U7 ${ms(u7)}`,
        value: ours / u7,
        unit: ' U7',
        better: 'lower',
        must: 3,
        moonshot: 1.5,
      },
    ];
  },
};
