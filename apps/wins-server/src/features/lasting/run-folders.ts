import { StateFile } from '@wins/files';
import { errnoOf } from '@wins/base';
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
// The small form of it: the keeper has 3 MB less.
import * as z from 'zod/mini';

/** Arguments are not kept, so this is mostly paths. */
const MAX_STATE_BYTES = 64 * 1024;
const MARK = /^[0-9a-f]{32}$/;

const text = z.string().check(z.maxLength(4096));
const someText = text.check(z.minLength(1));
const count = z.int().check(z.minimum(0));

/** Bounds of the tree of a run. */
export const treeLimits = z.object({
  ...{ memoryBytes: z.exactOptional(count), pids: z.exactOptional(count) },
  cpus: z.exactOptional(z.number().check(z.positive())),
});

/** Facts of a run that a daemon needs when it did not start it. */
export const keptRun = z.object({
  version: z.literal(1),
  /** By which clients find it. */
  label: text,
  /** The process that keeps it, as `ProcessHost.daemon` names one. */
  keeper: someText,
  pid: count.check(z.minimum(1)),
  startToken: someText,
  startedAtMs: count,
  run: z.object({
    ...{ name: text, mark: text.check(z.regex(MARK)), path: text, entry: text, stagedPath: text },
    sha256: text,
    limits: z.exactOptional(
      z.extend(treeLimits, { means: z.enum(['jobObject', 'cgroup', 'rlimit']) }),
    ),
  }),
  /** The client that started it. */
  owner: z.object({
    ...{ key: someText, isAdministrator: z.boolean(), isEverybody: z.boolean() },
    description: z.record(text, z.union([text, z.number()])),
    names: z.array(text).check(z.maxLength(256)),
    /** Tells its session from a later one of the same number. */
    since: z.exactOptional(text),
  }),
  spoolBytes: count,
  maxAgeMs: count,
  /** Where the run before it was kept, of which it is another attempt, and how much output there was. */
  continues: z.exactOptional(z.object({ folder: text.check(z.regex(MARK)), outputBytes: count })),
  /** How long a run that its client holds lives without a daemon, in milliseconds. Its output is not dropped before it is read. */
  leaseMs: z.exactOptional(count),
});

export type KeptRun = z.infer<typeof keptRun>;

/** Cost of a run. */
export const keptFigures = z.object({
  usage: z.exactOptional(
    z.object({ cpuMs: z.number(), memoryBytes: z.number(), processes: z.number() }),
  ),
  output: z.object({ stdoutBytes: count, stderrBytes: count, pauses: count }),
});

export type KeptFigures = z.infer<typeof keptFigures>;

/** Reasons of a keeper, and those of daemons for the end of a run that its client holds. */
const END_REASONS = [
  ...(['exited', 'outOfMemory', 'stopped', 'hostFailed', 'daemonStopping'] as const),
  ...(['leaseEnded', 'leaseNeverHeld', 'ownerDisconnected', 'replaced', 'yielded'] as const),
] as const;

/** How a run ended. */
export const keptEnd = z.object({
  version: z.literal(1),
  /** The attempt that ended. */
  mark: text.check(z.regex(MARK)),
  code: count,
  signal: z.exactOptional(text),
  reason: z.enum(END_REASONS),
  endedAtMs: count,
  /** Bytes of both outputs, lost ones too. */
  outputBytes: count,
  /** Absent when its keeper died. */
  figures: z.exactOptional(keptFigures),
  /** A daemon has reported it. */
  isTold: z.exactOptional(z.literal(true)),
});

export type KeptEnd = z.infer<typeof keptEnd>;

/** The name of the folder in which a run is kept: the mark of its first attempt. */
export function folderNameOf({ continues, run }: Pick<KeptRun, 'continues' | 'run'>): string {
  return continues?.folder ?? run.mark;
}

/**
 * The folders of runs that last, one each, named by the marks of their first attempts: a file about the newest attempt, one about its end,
 * one about more attempts, and one spool.
 */
export class RunFolders {
  readonly #folder: string;

  /** @param stateDirectory - Of the daemons that share them. */
  constructor(stateDirectory: string) {
    this.#folder = path.join(stateDirectory, 'lasting');
  }

  get folder(): string {
    return this.#folder;
  }

  folderOf(name: string): string {
    return path.join(this.#folder, name);
  }

  /** About a run; a file that we did not write counts as none. */
  run(name: string): StateFile<KeptRun> {
    return this.#file(name, 'run.json', keptRun);
  }

  /** About an end, which may be that of the attempt before. There is none if its keeper died before it. */
  end(name: string): StateFile<KeptEnd> {
    return this.#file(name, 'end.json', keptEnd);
  }

  /** The recorded end of an attempt, and none of one before. */
  async endOf(attempt: KeptRun): Promise<KeptEnd | undefined> {
    const end = await this.end(folderNameOf(attempt)).read();
    return end?.mark === attempt.run.mark ? end : undefined;
  }

  /** The names of all that there are. */
  async marks(): Promise<readonly string[]> {
    try {
      return (await readdir(this.#folder)).filter((name) => MARK.test(name));
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return [];
      throw error;
    }
  }

  /** The runs whose end is not written down. */
  async living(): Promise<readonly KeptRun[]> {
    const runs: KeptRun[] = [];
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

  /** Forgets a run and its output. */
  async remove(name: string): Promise<void> {
    await rm(this.folderOf(name), { recursive: true, force: true });
  }

  #file<T>(name: string, file: string, shape: z.ZodMiniType<T>): StateFile<T> {
    const parse = (json: unknown): T => shape.parse(json);
    const where = path.join(this.folderOf(name), file);
    const maxBytes = MAX_STATE_BYTES;
    return new StateFile({ path: where, maxBytes, parse, damaged: () => undefined });
  }
}
