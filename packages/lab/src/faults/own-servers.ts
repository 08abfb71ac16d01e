// Servers that an experiment may kill. Whoever starts the experiment brings them; they are its own and hold nothing else.

export interface OwnServer {
  /** The same before and after a restart. */
  readonly url: string;
  /** Ends it at once, whatever it was doing. Resolves when it is gone. */
  kill(signal: 'SIGKILL' | 'SIGQUIT'): Promise<void>;
  /** Brings it back; resolves when it answers. `empty`: without what it had stored. */
  start(how?: { empty: boolean }): Promise<void>;
}

export interface OwnServers {
  readonly postgres: OwnServer;
  readonly redis: OwnServer;
  /** A disk that can be filled up under Postgres; null where none could be mounted. */
  readonly disk: { fill(): Promise<void>; free(): Promise<void> } | null;
}
