/** Ports of the agent. The program that composes it says how each is done on its operating system. */
export type { Clock } from '@wins/time';

/** Owner and permissions of a file of a plan. */
export interface PlanFileRights {
  /** The nine permission bits. */
  readonly mode: number;
  /** -1 leaves the owner as it is. Without meaning on Windows. */
  readonly uid: number;
  readonly gid: number;
}

/** A file that is written beside its place; it is placed or discarded by who has it. */
export interface PendingPlanFile {
  /** Gives it its name, over the file that has it. When that fails, it is discarded. @throws AgentError `fileFailed`. */
  place(): Promise<void>;
  /** Removes it. Never rejects. */
  discard(): Promise<void>;
}

/** Files with permissions. Each has its rights from its first byte. Paths are absolute. @throws AgentError `fileFailed`. */
export interface PlanFiles {
  /** Whether `uid` and `gid` mean something here. Default: true. */
  readonly hasOwners?: boolean;
  /** Makes a folder, and those above it with the same mode; sets the rights of the folder itself in any case. */
  ensureFolder(path: string, rights: PlanFileRights): Promise<void>;
  /**
   * Writes a file beside its place and renames it, unless it has this content already; sets its rights in any case. Folders above it
   * are made with 0755. A link is followed, so that the file that it leads to is replaced.
   */
  writeFile(path: string, content: Buffer, rights: PlanFileRights): Promise<void>;
  /**
   * Begins what `writeFile` would do, before it is the file's turn: writes the new file beside its place, and nothing else. Undefined
   * where more than that is to be done or known: `writeFile` does it all then, in its turn. It never rejects. Absent: as if undefined.
   */
  writeAhead?(
    path: string,
    content: Buffer,
    rights: PlanFileRights,
  ): Promise<PendingPlanFile | undefined>;
  /** Removes a file, or a folder when `directory` says so with all that is in it. What is absent is removed already. */
  remove(path: string, directory: boolean): Promise<void>;
  /** Makes a folder that only administrators and this account can look into, or checks that it is one. */
  ensurePrivateFolder(path: string): Promise<void>;
  /** Replaces a file as a whole with one that only administrators and this account can read; durable. */
  writePrivateFile(path: string, content: Buffer): Promise<void>;
}

/** A program that an instruction runs. Everything in it was decided before. */
export interface ProgramCommand {
  /** Absolute path. */
  readonly file: string;
  readonly args: readonly string[];
  /** Entries as the child gets them: `NAME=value`, each name once. */
  readonly env: readonly string[];
  /** Absolute path. */
  readonly directory: string;
  /** Takes bytes as they come. It never blocks: what it does not want to keep it drops. */
  readonly onOutput: (stream: 'stdout' | 'stderr', bytes: Buffer) => void;
}

/** Runs programs: without a shell, with nothing to read, each in a tree of its own that ends with the agent. */
export interface ProgramRunner {
  /** Where a command without a folder in its name is looked for, and what the child's PATH begins with. */
  readonly searchPath: readonly string[];
  /** Beginning of every child's environment. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Resolves with the exit code when the program has ended and closed its outputs; with -1 when a signal ended it. Ends the whole
   * tree when the signal aborts, and resolves then too.
   *
   * @throws AgentError `refused`, when it cannot be started.
   */
  run(command: ProgramCommand, signal: AbortSignal): Promise<number>;
}

/** Puts the content of an image into a folder. */
export interface ImageStore {
  /** @throws AgentError `imageFailed`, `unreachable`. What was unpacked by then stays in the folder. */
  unpack(reference: string, folder: string, signal: AbortSignal): Promise<void>;
}

/** One version of the Secret that holds the plan. */
export interface Secret {
  readonly uid: string;
  /** Opaque, but for this: the agents of Rancher compare it as a number, and so may we. */
  readonly resourceVersion: string;
  /** Decoded. */
  readonly data: Readonly<Record<string, Buffer>>;
  /** The whole object as the API server sent it, so that what we do not know stays when it is written back. */
  readonly object: Readonly<Record<string, unknown>>;
}

/** Reads and writes one Secret. Every failure is an AgentError with the code that its docstring names. */
export interface SecretStore {
  /** When the API server last sent something; undefined when it never did. Absent: not known. */
  readonly lastContactAt?: Date | undefined;
  /**
   * Tells the Secret as it is and whenever it changes: undefined when there is none. Connects again by itself, with back-off, until
   * the signal aborts; then it resolves. `onState` tells how it goes, each time that it changes.
   */
  watch(
    onSecret: (secret: Secret | undefined) => void,
    onState: (state: WatchState) => void,
    signal: AbortSignal,
  ): Promise<void>;
  /** Asks the API server. Undefined when there is none. */
  read(signal: AbortSignal): Promise<Secret | undefined>;
  /** Replaces the Secret if it still has the resourceVersion of `secret`, with these values for keys of its data. Resolves with what it is then. */
  write(
    secret: Secret,
    changes: Readonly<Record<string, Buffer>>,
    signal: AbortSignal,
  ): Promise<Secret>;
}

/** How the watch goes. */
export type WatchState =
  | { readonly kind: 'connected' }
  | { readonly kind: 'waiting'; readonly error: Error; readonly retryAt: Date };
