import type { ClientIdentity } from '@wins/base';
import { StateFile } from '@wins/files';
import type { RunFacts } from '../start-request.js';
import { EXIT_REASONS, type ProcessExit, type RunFigures } from './managed-process.js';
// The smaller variant of zod saves the keeper 3 MB.
import * as z from 'zod/mini';

/** Limit of a run's record, which contains paths but no arguments. */
export const MAX_STATE_BYTES = 64 * 1024;
export const MARK = /^[0-9a-f]{32}$/;

const text = z.string().check(z.maxLength(4096));
const someText = text.check(z.minLength(1));
export const mark = text.check(z.regex(MARK));
const count = z.int().check(z.minimum(0));

export const treeLimits = z.object({
  memoryBytes: z.optional(count),
  pids: z.optional(count),
  cpus: z.optional(z.number().check(z.positive())),
});

/** Client to which a detached run belongs. */
export interface RunOwner extends ClientIdentity {
  readonly description: Readonly<Record<string, string | number | undefined>>;
  /** Distinguishes the client's session from a later one with the same number. */
  readonly since?: string | undefined;
}

/** Record of a run, by which a later manager finds its processes. */
export interface RunRecord {
  readonly version: 1;
  /** Identifies the process that supervises the run, in the form of `ProcessHost.daemon`. */
  readonly supervisor: string;
  readonly pid: number;
  /** With the PID, identifies the process even after PID reuse or a reboot. */
  readonly startToken: string;
  readonly run: Pick<RunFacts, 'mark' | 'name' | 'path'>;
  /** Absent for a run that ends with its manager. */
  readonly label?: string | undefined;
  /** Absent for the first attempt. `folder` is the mark of the first attempt. */
  readonly continues?: { readonly folder: string } | undefined;
}

/** Record from which a manager takes over another manager's run. */
export interface DetachedRecord extends RunRecord {
  readonly label: string;
  /** In milliseconds since 1970. */
  readonly startedAtMs: number;
  readonly run: RunFacts;
  readonly owner: RunOwner;
  /** Maximum size of the run's output on disk. */
  readonly spoolBytes: number;
  /** Time after the run's end at which its record and output are removed, in milliseconds. */
  readonly maxAgeMs: number;
  /** `outputBytes` counts the output of all earlier attempts. */
  readonly continues?: { readonly folder: string; readonly outputBytes: number } | undefined;
  /** Time that a run with a lease survives without a manager. If it is set, the program also waits while too much output is unread. */
  readonly leaseMs?: number | undefined;
}

const namedRun = z.object({ name: someText, mark, path: someText });

export const runRecord = z.object({
  version: z.literal(1),
  supervisor: someText,
  pid: count.check(z.minimum(2)),
  startToken: someText,
  run: namedRun,
  continues: z.optional(z.object({ folder: mark })),
  label: z.optional(text),
});

export const detachedRecord = z.object({
  ...runRecord.shape,
  label: text,
  startedAtMs: count,
  run: z.extend(namedRun, {
    entry: text,
    stagedPath: text,
    sha256: text,
    limits: z.optional(z.extend(treeLimits, { means: z.enum(['jobObject', 'cgroup', 'rlimit']) })),
  }),
  owner: z.object({
    key: someText,
    isAdministrator: z.boolean(),
    isEverybody: z.boolean(),
    description: z.readonly(z.record(text, z.optional(z.union([text, z.number()])))),
    names: z.readonly(z.array(text).check(z.maxLength(256))),
    since: z.optional(text),
  }),
  spoolBytes: count,
  maxAgeMs: count,
  continues: z.optional(z.object({ folder: mark, outputBytes: count })),
  leaseMs: z.optional(count),
});

export const runFigures = z.object({
  usage: z.optional(
    z.object({ cpuMs: z.number(), memoryBytes: z.number(), processes: z.number() }),
  ),
  output: z.object({ stdoutBytes: count, stderrBytes: count, pauses: count }),
});

/** How an attempt of a detached run ended. */
export interface RunEnd extends ProcessExit {
  readonly version: 1;
  readonly mark: string;
  /** In milliseconds since 1970. */
  readonly endedAtMs: number;
  /** Time between start and exit, whatever the clock was set to. Absent when the keeper died. */
  readonly livedMs?: number | undefined;
  /** Bytes of stdout and stderr together, including lost ones. */
  readonly outputBytes: number;
  /** Absent when the keeper died. */
  readonly figures?: RunFigures | undefined;
  /** True once a manager has reported the end. */
  readonly isTold?: true | undefined;
}

export const runEnd = z.object({
  version: z.literal(1),
  mark,
  code: count,
  signal: z.optional(text),
  reason: z.enum(EXIT_REASONS),
  endedAtMs: count,
  livedMs: z.optional(count),
  outputBytes: count,
  figures: z.optional(runFigures),
  isTold: z.optional(z.literal(true)),
});

/** Address of a keeper, stored in a private file and printed as the keeper's first line. */
export interface KeeperRecord {
  readonly version: 1;
  /** Identifies the keeper's process, in the form of `ProcessHost.daemon`. */
  readonly keeper: string;
  /** Address at which the keeper serves. */
  readonly socket: string;
  /** Secret that a manager presents in its first message. */
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
export function folderNameOf({ continues, run }: Pick<RunRecord, 'continues' | 'run'>): string {
  return continues?.folder ?? run.mark;
}
