/** A bar on a terminal, nothing anywhere else; it redraws only when it has moved. */
export function progressBar(
  label: string,
  total: number,
  stream: Pick<NodeJS.WriteStream, 'isTTY'> & { write(text: string): boolean },
): { step(): void; end(): void } {
  if (!stream.isTTY) return { step: () => {}, end: () => {} };
  const width = 30;
  let done = 0;
  let drawn = -1;
  return {
    step() {
      done += 1;
      const percent = Math.floor((100 * done) / total);
      if (percent === drawn) return;
      drawn = percent;
      const filled = Math.round((width * done) / total);
      stream.write(`\r${label} ${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${String(percent).padStart(3)} %`);
    },
    end() {
      stream.write('\r\x1b[K');
    },
  };
}
