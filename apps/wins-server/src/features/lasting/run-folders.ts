import { StateFile } from '@wins/files';
import { errnoOf } from '@wins/base';
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';

/** Arguments are not kept, so this is mostly paths. */
const MAX_STATE_BYTES = 64 * 1024;
const MARK = /^[0-9a-f]{32}$/;

const text = z.string().max(4096);
const count = z.int().min(0);

/** Bounds of the tree of a run. */
export const treeLimits = z.object({
  ...{ memoryBytes: count.exactOptional(), pids: count.exactOptional() },
  cpus: z.number().positive().exactOptional(),
});

/** Facts of a run that a daemon needs when it did not start it. */
export const keptRun = z.object({
  version: z.literal(1),
  /** By which clients find it. */
  label: text,
  /** The process that keeps it, as `ProcessHost.daemon` names one. */
  keeper: text.min(1),
  pid: count.min(1),
  startToken: text.min(1),
  startedAtMs: count,
  run: z.object({
    ...{ name: text, mark: text.regex(MARK), path: text, entry: text, stagedPath: text },
    sha256: text,
    limits: treeLimits.extend({ means: z.enum(['jobObject', 'cgroup', 'rlimit']) }).exactOptional(),
  }),
  /** The client that started it. */
  owner: z.object({
    ...{ key: text.min(1), isAdministrator: z.boolean(), isEverybody: z.boolean() },
    description: z.record(text, z.union([text, z.number()])),
    names: z.array(text).max(256),
    /** Tells its session from a later one of the same number. */
    since: text.exactOptional(),
  }),
  spoolBytes: count,
  maxAgeMs: count,
});

export type KeptRun = z.infer<typeof keptRun>;

/** Cost of a run. */
export const keptFigures = z.object({
  usage: z
    .object({ cpuMs: z.number(), memoryBytes: z.number(), processes: z.number() })
    .exactOptional(),
  output: z.object({ stdoutBytes: count, stderrBytes: count, pauses: count }),
});

export type KeptFigures = z.infer<typeof keptFigures>;

/** How a run ended. */
export const keptEnd = z.object({
  version: z.literal(1),
  code: count,
  signal: text.optional(),
  reason: z.enum(['exited', 'outOfMemory', 'stopped', 'hostFailed']),
  endedAtMs: count,
  /** Bytes of both outputs, lost ones too. */
  outputBytes: count,
  /** Absent when its keeper died. */
  figures: keptFigures.exactOptional(),
  /** A daemon has reported it. */
  isTold: z.literal(true).exactOptional(),
});

export type KeptEnd = z.infer<typeof keptEnd>;

/** The folders of runs that last, one each, named by their marks: a file about the run, one about its end, and its spool. */
export class RunFolders {
  readonly #folder: string;

  /** @param stateDirectory - Of the daemons that share them. */
  constructor(stateDirectory: string) {
    this.#folder = path.join(stateDirectory, 'lasting');
  }

  get folder(): string {
    return this.#folder;
  }

  folderOf(mark: string): string {
    return path.join(this.#folder, mark);
  }

  /** About a run; a file that we did not write counts as none. */
  run(mark: string): StateFile<KeptRun> {
    return stateFile(path.join(this.folderOf(mark), 'run.json'), (json) => keptRun.parse(json));
  }

  /** About its end. There is none while it lives, and none if its keeper died before it. */
  end(mark: string): StateFile<KeptEnd> {
    return stateFile(path.join(this.folderOf(mark), 'end.json'), (json) => keptEnd.parse(json));
  }

  /** All marks that have a folder. */
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
    for (const mark of await this.marks()) {
      const run = await this.run(mark)
        .read()
        .catch(() => undefined);
      const end = this.end(mark).read();
      if (run?.run.mark === mark && (await end.catch(() => undefined)) === undefined)
        runs.push(run);
    }
    return runs;
  }

  /** Forgets a run and its output. */
  async remove(mark: string): Promise<void> {
    await rm(this.folderOf(mark), { recursive: true, force: true });
  }
}

function stateFile<T>(file: string, parse: (json: unknown) => T): StateFile<T> {
  return new StateFile({ path: file, maxBytes: MAX_STATE_BYTES, parse, damaged: () => undefined });
}
