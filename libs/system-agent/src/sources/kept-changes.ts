import { StateFile } from '@wins/files';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { type SecretData, WRITTEN_KEYS } from '../decide/secret-state.js';
import type { PlanFiles } from '../ports.js';

export interface Changes {
  readonly uid: string;
  readonly checksum: string;
  /** `plan-state` at the beginning of the pass, if the Secret had the key. */
  readonly planState: string | undefined;
  readonly values: SecretData;
}

const FILE = 'unwritten.json';
const MAX_BYTES = 8 * 1024 * 1024;

const schema = z.object({
  uid: z.string(),
  checksum: z.string(),
  planState: z.optional(z.string()),
  // Accept known keys only: a tampered file must not change the plan or its limits in the Secret.
  values: z.partialRecord(z.enum(WRITTEN_KEYS), z.base64()),
});

/** Saves to a file the changes that the Secret still lacks, so that they survive a restart of the daemon. */
export class KeptChanges {
  readonly #files: PlanFiles;
  readonly #folder: string;
  readonly #state: StateFile<Changes>;

  constructor(files: PlanFiles, stateDirectory: string) {
    this.#files = files;
    this.#folder = stateDirectory;
    this.#state = new StateFile({
      path: join(stateDirectory, FILE),
      maxBytes: MAX_BYTES,
      parse: changesOf,
      damaged: () => {
        // Omit the cause: the parser's error may quote an output.
        throw new Error(`cannot read ${FILE}: the agent did not write it in this form`);
      },
      replace: (file, content) => files.writePrivateFile(file, content),
    });
  }

  /**
   * @throws Error for a folder that is not private, or an unreadable or invalid file.
   */
  async load(): Promise<Changes | undefined> {
    await this.#files.ensurePrivateFolder(this.#folder);
    return this.#state.read();
  }

  async save(changes: Changes): Promise<void> {
    await this.#files.ensurePrivateFolder(this.#folder);
    const values: Record<string, string> = {};
    for (const [key, value] of Object.entries(changes.values))
      values[key] = value.toString('base64');
    await this.#state.write({ ...changes, values });
  }

  remove(): Promise<void> {
    return this.#state.remove();
  }
}

function changesOf(json: unknown): Changes {
  const { uid, checksum, planState, values } = schema.parse(json);
  const decoded = Object.entries(values).map(([key, value]) => [key, Buffer.from(value, 'base64')]);
  return { uid, checksum, planState, values: Object.fromEntries(decoded) as SecretData };
}
