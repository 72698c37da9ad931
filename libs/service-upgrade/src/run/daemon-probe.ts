/** What a daemon says of itself. */
export interface DaemonAnswer {
  readonly version: string;
  /** SHA-1 of its program, hexadecimal. */
  readonly sha1: string;
  /** Whether it takes new work; undefined when it has no health service. */
  readonly serving: boolean | undefined;
}

/** Port: asks the daemon on a pipe; undefined when nobody answers there (yet). Each call connects anew. */
export type ProbeDaemon = (pipe: string, limitMs: number) => Promise<DaemonAnswer | undefined>;
