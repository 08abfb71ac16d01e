import { closeSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

const LIMIT_BYTES = 16 * 2 ** 20;

/** A log with a size limit: when it is full, or when a new run begins, it is renamed to `<file>.1`. */
export class LogFile {
  #file: string;
  #descriptor: number | null = null;
  #bytes = 0;

  constructor(file: string) {
    this.#file = file;
    mkdirSync(dirname(file), { recursive: true });
    this.#renew();
  }

  /** An unwritable log (a full disk) must not end the product. */
  write(line: string): void {
    try {
      if (this.#bytes > LIMIT_BYTES) this.#renew();
      if (this.#descriptor !== null) this.#bytes += writeSync(this.#descriptor, `${line}\n`);
    } catch {
      // Ignore the error: the next line may find space again.
    }
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  #renew(): void {
    this.close();
    try {
      renameSync(this.#file, `${this.#file}.1`);
    } catch {
      // At the first run there is no log to rename.
    }
    this.#descriptor = openSync(this.#file, 'w', 0o600);
    this.#bytes = 0;
  }
}
