import { open, unlink } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { InstallError } from '../install-error.js';
import { STEP_SCHEMA } from '../item/step-schema.js';
import type { Step } from '../item/step.js';
import { act, type InstallContext } from '../run/install-context.js';
import { readableJson, readIfThere, replaceOwn } from './own-files.js';

const MAX_STEPS = 1000;

const HEADER = z.strictObject({
  format: z.literal(1),
  isProved: z.boolean(),
  steps: z.array(STEP_SCHEMA).max(MAX_STEPS),
});
const index = z.number().int().nonnegative();
const LINE = z.union([
  z.strictObject({ begin: index }),
  z.strictObject({ undo: index }),
  z.strictObject({ proven: z.literal(true) }),
]);

/** What is written before each act: a step begins, a step is undone, or all of them hold. */
export type JournalLine =
  { readonly begin: number } | { readonly undo: number } | { readonly proven: true };

/** An installation as its journal tells it. */
export interface JournalRecord {
  readonly isProved: boolean;
  readonly steps: readonly Step[];
  readonly lines: readonly JournalLine[];
}

/** The steps whose acts may have been done, in part or whole, and that are not undone yet. Pure. */
export function begunSteps({ steps, lines }: JournalRecord): readonly Step[] {
  const undone = lines.flatMap((line) => ('undo' in line ? [line.undo] : []));
  const begun = lines.flatMap((line) => ('begin' in line ? [line.begin] : []));
  return steps.slice(0, (undone.at(-1) ?? begun.at(-1) ?? -1) + 1);
}

/** What an installation that was interrupted comes to. Pure. */
export function endOf({ lines }: JournalRecord): 'finished' | 'undone' {
  return lines.some((line) => 'proven' in line) ? 'finished' : 'undone';
}

/** The record on disk of the installation that is under way: first all its steps, then a line before each act, each flushed. */
export class InstallJournal {
  readonly #file: string;
  readonly #context: InstallContext;

  constructor(context: InstallContext) {
    this.#context = context;
    this.#file = path.join(context.places.stateFolder, 'journal.jsonl');
  }

  /**
   * What it tells; undefined when nothing is under way. A last line that is not whole was never followed by its act.
   *
   * @throws InstallError `unreadable`
   */
  async read(): Promise<JournalRecord | undefined> {
    const text = await readIfThere(this.#file);
    if (text === undefined) return undefined;
    const [header = '', ...lines] = text.slice(0, text.lastIndexOf('\n')).split('\n');
    const parsed = parse(HEADER, header);
    const parsedLines = lines.map((line) => parse(LINE, line));
    const isWhole = parsedLines.every(
      (line) =>
        line !== undefined && ('proven' in line || stepOf(line) < (parsed?.steps.length ?? 0)),
    );
    if (parsed === undefined || !isWhole) {
      const next = 'it tells what to undo: look at it, then move it away';
      throw new InstallError(
        'unreadable',
        `cannot read ${this.#file}: found no journal of ours; ${next}`,
      );
    }
    return { ...parsed, lines: parsedLines as JournalLine[] };
  }

  /** Writes which steps there will be. */
  async begin(steps: readonly Step[], isProved: boolean): Promise<void> {
    const text = journalHeader(steps, isProved);
    await act(this.#context, 'begin journal', () => replaceOwn(this.#file, text));
  }

  /** Writes what comes next; resolves when it is on the disk. */
  async add(line: JournalLine): Promise<void> {
    await act(this.#context, `journal ${JSON.stringify(line)}`, async () => {
      const handle = await open(this.#file, 'r+');
      try {
        // Behind the last whole line: what a crash left of another is written over.
        const text = await handle.readFile();
        const end = text.lastIndexOf(0x0a) + 1;
        await handle.truncate(end);
        await handle.write(Buffer.from(`${JSON.stringify(line)}\n`), 0, undefined, end);
        await handle.sync();
      } finally {
        await handle.close();
      }
    });
  }

  /** Nothing is under way any more. */
  async end(): Promise<void> {
    await act(this.#context, 'end journal', () => unlink(this.#file));
  }
}

function stepOf(line: { begin: number } | { undo: number }): number {
  return 'begin' in line ? line.begin : line.undo;
}

function parse<T>(schema: z.ZodType<T>, line: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

/** The first line of a journal. @throws InstallError `refused` when it could not be read again. */
export function journalHeader(steps: readonly Step[], isProved: boolean): string {
  return readableJson(HEADER, { format: 1, isProved, steps }, 'write down what is to be done');
}
