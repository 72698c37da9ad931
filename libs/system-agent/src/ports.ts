/**
 * Interfaces of the parts that the agent needs: clock, files, programs, images and the Secret. The caller of
 * `createSystemAgent` supplies these parts, because some of them differ between operating systems.
 */
export type { Clock } from '@wins/time';

/** Starts a timer. `refresh` restarts it, `close` ends it. */
export type StartTimer = (end: () => void, ms: number) => Pick<NodeJS.Timeout, 'close' | 'refresh'>;

/** Permissions and owner of a file or folder of a plan. */
export interface PlanFileRights {
  /** The nine permission bits. */
  readonly mode: number;
  /** -1 keeps the owner. Has no effect on Windows. */
  readonly uid: number;
  /** -1 keeps the group. Has no effect on Windows. */
  readonly gid: number;
}

/** A file under a temporary name, to place or discard. */
export interface PendingPlanFile {
  /** Renames the file to its final name. Discards the file on failure. @throws AgentError `fileFailed`. */
  place(): Promise<void>;
  /** Never rejects. */
  discard(): Promise<void>;
}

/** Creates files, and sets permissions before the first byte is written. Paths are absolute. @throws AgentError `fileFailed`. */
export interface PlanFiles {
  /** False where `uid` and `gid` have no meaning. Default: true. */
  readonly hasOwners?: boolean | undefined;
  /** Creates missing parents with the same mode. Sets the rights of an existing folder too. */
  ensureFolder(path: string, rights: PlanFileRights): Promise<void>;
  /**
   * Writes a temporary file and renames it, unless the content is unchanged. Always sets the rights. Creates missing parents
   * with mode 0755. If `path` is a link, replaces the file that the link points to.
   */
  writeFile(path: string, content: Buffer, rights: PlanFileRights): Promise<void>;
  /** Writes only the temporary file. If the result is undefined, call `writeFile`. Never rejects. */
  writeAhead?(
    path: string,
    content: Buffer,
    rights: PlanFileRights,
  ): Promise<PendingPlanFile | undefined>;
  /** With `directory`, removes a folder and all its content. Does nothing when `path` is missing. */
  remove(path: string, directory: boolean): Promise<void>;
  /** Creates a folder that only administrators and this account can read, or checks an existing one. */
  ensurePrivateFolder(path: string): Promise<void>;
  /** Durably replaces a file by one that only administrators and this account can read. */
  writePrivateFile(path: string, content: Buffer): Promise<void>;
}

/** A program to run, with its complete command line. */
export interface ProgramCommand {
  /** Absolute path. */
  readonly file: string;
  readonly args: readonly string[];
  /** `NAME=value`, each name once. */
  readonly env: readonly string[];
  readonly directory: string;
  /** Must not block. */
  readonly onOutput: (stream: 'stdout' | 'stderr', bytes: Buffer) => unknown;
}

/** Runs programs without a shell and without input, each in a process tree of its own that ends with the agent. */
export interface ProgramRunner {
  /** Folders to search for a command whose name has no folder. They also come first in the child's PATH. */
  readonly searchPath: readonly string[];
  /** Variables of every child. A command's own variables override them. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Resolves when the program has ended and closed its outputs: with its exit code, or -1 if a POSIX signal ended it. If
   * `signal` aborts, ends the whole tree first.
   * @throws AgentError `refused`, when the program cannot be started.
   */
  run(command: ProgramCommand, options: { readonly signal: AbortSignal }): Promise<number>;
}

/** Unpacks images, from local archives or registries. */
export interface ImageStore {
  /** @throws AgentError `imageFailed`, `unreachable`. Files unpacked before the failure stay in the folder. */
  unpack(
    reference: string,
    folder: string,
    options: { readonly signal: AbortSignal },
  ): Promise<void>;
}

/** One version of the Secret that holds the plan. */
export interface Secret {
  readonly uid: string;
  /** Kubernetes defines it as opaque. Rancher's agents compare it as a number, so this library may too. */
  readonly resourceVersion: string;
  /** Values by key, decoded from base64. */
  readonly data: Readonly<Record<string, Buffer>>;
  /** The whole object as received, so that a write keeps unknown fields. */
  readonly object: Readonly<Record<string, unknown>>;
}

/** Reads and writes one Secret. Every failure is an AgentError. */
export interface SecretStore {
  /** Time of the last data from the API server, by the monotonic clock; undefined when there was none. */
  readonly lastContactMs: number | undefined;
  /**
   * Reports the Secret now and after each change; undefined when it does not exist. Reconnects with back-off. Resolves when
   * the signal aborts.
   */
  watch(
    onSecret: (secret: Secret | undefined) => unknown,
    onState: (state: WatchState) => unknown,
    options: { readonly signal: AbortSignal },
  ): Promise<void>;
  /** Resolves with undefined when the Secret does not exist. */
  read(options: { readonly signal: AbortSignal }): Promise<Secret | undefined>;
  /** Merges `changes` into the Secret if it still has the resourceVersion of `secret`. Resolves with the new Secret. */
  write(
    secret: Secret,
    changes: Readonly<Record<string, Buffer>>,
    options: { readonly signal: AbortSignal },
  ): Promise<Secret>;
}

/** Connection to the API server: up, or waiting for the next attempt. */
export type WatchState =
  | { readonly kind: 'connected' }
  | { readonly kind: 'waiting'; readonly error: Error; readonly retryAt: Date };
