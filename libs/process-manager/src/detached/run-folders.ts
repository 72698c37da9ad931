import { StateFile } from '@wins/files';
import { errnoOf } from '@wins/base';
import type { RunFacts } from '../start-request.js';
import type { ExitReason, ProcessExit, RunFigures } from '../supervision/managed-process.js';
import { createHash } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
// The smaller variant of zod saves the keeper 3 MB.
import * as z from 'zod/mini';

/** Limit of a run's record, which contains paths but no arguments. */
const MAX_STATE_BYTES = 64 * 1024;
const MARK = /^[0-9a-f]{32}$/;
const KEEPER_FILE = /^keeper\.[0-9a-f]{16}\.json$/;

const text = z.string().check(z.maxLength(4096));
const someText = text.check(z.minLength(1));
const count = z.int().check(z.minimum(0));

export const treeLimits = z.object({
  memoryBytes: z.exactOptional(count),
  pids: z.exactOptional(count),
  cpus: z.exactOptional(z.number().check(z.positive())),
});

/** Client to which a detached run belongs. */
export interface RunOwner {
  readonly key: string;
  readonly isAdministrator: boolean;
  readonly isEverybody: boolean;
  readonly description: Readonly<Record<string, string | number>>;
  readonly names: readonly string[];
  /** Distinguishes the client's session from a later one with the same number. */
  readonly since?: string;
}

/** Record from which a manager takes over another manager's run. */
export interface DetachedRecord {
  readonly version: 1;
  readonly label: string;
  /** Identifies the process that keeps the run, in the form of `ProcessHost.daemon`. */
  readonly keeper: string;
  readonly pid: number;
  readonly startToken: string;
  readonly startedAtMs: number;
  readonly run: RunFacts;
  readonly owner: RunOwner;
  readonly spoolBytes: number;
  readonly maxAgeMs: number;
  /** Absent for the first attempt. `folder` is the mark of the first attempt. `outputBytes` counts the output of all earlier attempts. */
  readonly continues?: { readonly folder: string; readonly outputBytes: number };
  /** Time that a run with a lease survives without a manager. If it is set, the program also waits while too much output is unread. */
  readonly leaseMs?: number;
}

export const detachedRecord = z.object({
  version: z.literal(1),
  label: text,
  keeper: someText,
  pid: count.check(z.minimum(1)),
  startToken: someText,
  startedAtMs: count,
  run: z.object({
    name: text,
    mark: text.check(z.regex(MARK)),
    path: text,
    entry: text,
    stagedPath: text,
    sha256: text,
    limits: z.exactOptional(
      z.extend(treeLimits, { means: z.enum(['jobObject', 'cgroup', 'rlimit']) }),
    ),
  }),
  owner: z.object({
    key: someText,
    isAdministrator: z.boolean(),
    isEverybody: z.boolean(),
    description: z.readonly(z.record(text, z.union([text, z.number()]))),
    names: z.readonly(z.array(text).check(z.maxLength(256))),
    since: z.exactOptional(text),
  }),
  spoolBytes: count,
  maxAgeMs: count,
  continues: z.exactOptional(z.object({ folder: text.check(z.regex(MARK)), outputBytes: count })),
  leaseMs: z.exactOptional(count),
});

export const runFigures = z.object({
  usage: z.optional(
    z.object({ cpuMs: z.number(), memoryBytes: z.number(), processes: z.number() }),
  ),
  output: z.object({ stdoutBytes: count, stderrBytes: count, pauses: count }),
});

export const END_REASONS = [
  'exited',
  'outOfMemory',
  'stopped',
  'hostFailed',
  'daemonStopping',
  'leaseEnded',
  'leaseNeverHeld',
  'ownerDisconnected',
  'replaced',
  'yielded',
] as const satisfies readonly ExitReason[];

/** How an attempt of a detached run ended. */
export interface RunEnd extends ProcessExit {
  readonly version: 1;
  readonly mark: string;
  readonly endedAtMs: number;
  /** Time between start and exit, whatever the clock was set to. Absent when the keeper died. */
  readonly livedMs?: number;
  /** Bytes of stdout and stderr together, including lost ones. */
  readonly outputBytes: number;
  /** Absent when the keeper died. */
  readonly figures?: RunFigures;
  /** True once a manager has reported the end. */
  readonly isTold?: true;
}

export const runEnd = z.object({
  version: z.literal(1),
  mark: text.check(z.regex(MARK)),
  code: count,
  signal: z.exactOptional(text),
  reason: z.enum(END_REASONS),
  endedAtMs: count,
  livedMs: z.exactOptional(count),
  outputBytes: count,
  figures: z.exactOptional(runFigures),
  isTold: z.exactOptional(z.literal(true)),
});

/** Address of a keeper, stored in a private file and printed as the keeper's first line. */
export interface KeeperRecord {
  readonly version: 1;
  readonly keeper: string;
  readonly socket: string;
  readonly token: string;
  /** Identifies the keeper's program; a manager starts runs only with a keeper of its own release. */
  readonly release: string;
}

export const keeperRecord = z.object({
  version: z.literal(1),
  keeper: someText,
  socket: text,
  token: text.check(z.minLength(32)),
  release: text,
});

/** A file whose content does not match `shape` counts as absent. */
export function stateFile<T>(
  file: string,
  shape: z.ZodMiniType<T>,
  maxBytes = MAX_STATE_BYTES,
): StateFile<T> {
  const parse = (json: unknown): T => shape.parse(json);
  return new StateFile({ path: file, maxBytes, parse, damaged: () => undefined });
}

/** Returns the folder name of a run: the mark of its first attempt. */
export function folderNameOf({
  continues,
  run,
}: Pick<DetachedRecord, 'continues' | 'run'>): string {
  return continues?.folder ?? run.mark;
}

/** Folders of detached runs, one per run. Each contains the record of the newest attempt, the last recorded end, the restart plan and the spool. */
export class RunFolders {
  readonly folder: string;

  constructor(stateDirectory: string) {
    this.folder = path.join(stateDirectory, 'detached');
  }

  folderOf(name: string): string {
    return path.join(this.folder, name);
  }

  run(name: string): StateFile<DetachedRecord> {
    return stateFile(path.join(this.folder, name, 'run.json'), detachedRecord);
  }

  /** Returns the file that tells how an attempt ended. It may describe an earlier attempt. It is missing if the keeper died before writing it. */
  end(name: string): StateFile<RunEnd> {
    return stateFile(path.join(this.folder, name, 'end.json'), runEnd);
  }

  /** Ignores the end of an earlier attempt. */
  async endOf(attempt: DetachedRecord): Promise<RunEnd | undefined> {
    const end = await this.end(folderNameOf(attempt)).read();
    return end?.mark === attempt.run.mark ? end : undefined;
  }

  marks(): Promise<readonly string[]> {
    return this.#names(MARK);
  }

  /** Any process that can read this file may start programs. */
  keeper(keeper: string): StateFile<KeeperRecord> {
    const name = createHash('sha256').update(keeper).digest('hex').slice(0, 16);
    return stateFile(path.join(this.folder, `keeper.${name}.json`), keeperRecord);
  }

  /** Skips unreadable records, but includes those of dead keepers. */
  async keepers(): Promise<readonly KeeperRecord[]> {
    const names = await this.#names(KEEPER_FILE);
    const files = names.map((name) => stateFile(path.join(this.folder, name), keeperRecord));
    const records = await Promise.all(files.map((file) => file.read().catch(() => undefined)));
    return records.filter((record) => record !== undefined);
  }

  /** Returns the runs without a recorded end. */
  async living(): Promise<readonly DetachedRecord[]> {
    const runs: DetachedRecord[] = [];
    for (const name of await this.marks()) {
      const run = await this.run(name)
        .read()
        .catch(() => undefined);
      if (run === undefined || folderNameOf(run) !== name) continue;
      const end = await this.endOf(run).catch(() => undefined);
      if (end === undefined) runs.push(run);
    }
    return runs;
  }

  /** Returns the size of a run's files; 0 for an unknown run. */
  async sizeOf(name: string): Promise<number> {
    const folder = this.folderOf(name);
    const names = await readdir(folder).catch(() => []);
    const sizes = await Promise.all(
      names.map((file) =>
        stat(path.join(folder, file)).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  async remove(name: string): Promise<void> {
    await rm(this.folderOf(name), { recursive: true, force: true });
  }

  async #names(pattern: RegExp): Promise<readonly string[]> {
    try {
      return (await readdir(this.folder)).filter((name) => pattern.test(name));
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return [];
      throw error;
    }
  }
}
