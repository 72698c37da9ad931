import {
  copyPendingFile,
  decodeAnyway,
  distrusted,
  hashFile,
  moveFile,
  readBytes,
  replaceFile,
  syncFolder,
  TrustedFileError,
  unlessNotFound,
  whenNotHeld,
  writePendingFile,
  type Distrust,
} from '@wins/trusted-files';
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, rm, unlink } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod/mini';
import { InstallError } from '../install-error.js';
import type { Content, Step } from '../item/step.js';
import { MANIFEST_SCHEMA, type Manifest } from '../manifest/manifest.js';
import { perform, type InstallContext } from '../install-context.js';
import {
  HEADER_SCHEMA,
  LINE_SCHEMA,
  type JournalLine,
  type JournalRecord,
} from './install-journal.js';

const PRIVATE = 0o600;
const MAX_BYTES = 16 * 1024 * 1024;
/** Limit of the first line, so that the other lines of a journal still fit. */
const MAX_FIRST_BYTES = MAX_BYTES / 2;
const MAX_CONTENT_BYTES = 512 * 1024 * 1024;
/** Retry time for a file that a virus scanner or a backup holds. */
const HELD_FILE_MS = 15_000;

/** Private folder for the manifest, the journal and, during an installation, file contents. */
export class InstallFiles {
  readonly #context: InstallContext;
  readonly #folder: string;
  readonly #manifest: string;
  readonly #journal: string;
  readonly #contents: string;

  constructor(context: InstallContext) {
    this.#context = context;
    this.#folder = context.paths.stateFolder;
    this.#manifest = path.join(this.#folder, 'install-manifest.json');
    this.#journal = path.join(this.#folder, 'journal.jsonl');
    this.#contents = path.join(this.#folder, 'contents');
  }

  get exists(): boolean {
    return existsSync(this.#folder);
  }

  /** @throws InstallError `refused`. */
  async ensureFolder(): Promise<void> {
    const { trust } = this.#context.host;
    try {
      await this.#perform('make state folder', () =>
        Promise.resolve(this.#folder).then((folder) => trust.ensurePrivateFolder(folder)),
      );
    } catch (error) {
      throw error instanceof TrustedFileError ? refused(error) : error;
    }
  }

  /** @throws InstallError `refused` when other users could have written to the folder. */
  requireTrustedFolder(): void {
    const distrust = this.#context.host.trust.distrustOfFolder(this.#folder);
    if (distrust !== undefined) throw untrusted(this.#folder, distrust);
  }

  async removeFolder(): Promise<void> {
    if (existsSync(this.#manifest)) return;
    await this.#perform('remove state folder', () =>
      rm(this.#folder, { recursive: true, force: true }),
    );
  }

  /** Returns undefined if there is no manifest. @throws InstallError `unreadable`; `refused` if others could write it. */
  async readManifest(): Promise<Manifest | undefined> {
    const file = this.#manifest;
    if (!existsSync(file)) return undefined;
    const distrust = this.#context.host.trust.distrustOfFile(file);
    if (distrust !== undefined) throw untrusted(file, distrust);
    const manifest = parse(MANIFEST_SCHEMA, (await readIfThere(file)) ?? '');
    if (manifest !== undefined) return manifest;
    const found = 'it is not the manifest of an installation';
    throw new InstallError('unreadable', `cannot read ${file}: ${found}`);
  }

  /** Undefined removes the manifest. */
  async writeManifest(manifest: Manifest | undefined): Promise<void> {
    await this.#perform('write manifest', async () => {
      if (manifest !== undefined) return replaceOwn(this.#manifest, manifestText(manifest));
      if (existsSync(this.#manifest)) await unlink(this.#manifest);
    });
  }

  /** @throws InstallError `refused` when the journal or the manifest would be too large, or could not be read back. */
  requireReadable(steps: readonly Step[], isProved: boolean, merged: Manifest): void {
    journalHeader(steps, isProved);
    manifestText(merged);
  }

  /** Ignores an incomplete last line, whose action never began. @throws InstallError `unreadable` */
  async readJournal(): Promise<JournalRecord | undefined> {
    const text = await readIfThere(this.#journal);
    if (text === undefined) return undefined;
    const [first = '', ...rest] = text.slice(0, text.lastIndexOf('\n')).split('\n');
    const header = parse(HEADER_SCHEMA, first);
    const count = header?.steps.length ?? 0;
    const lines = rest.map((line) => parse(LINE_SCHEMA, line));
    const isOurs = (line: JournalLine | undefined): line is JournalLine =>
      line !== undefined && Object.values(line).every((step) => step === true || step < count);
    if (header !== undefined && lines.every(isOurs)) return { steps: header.steps, lines };
    const found =
      'it is not a journal of wins. A journal lists steps to undo: examine the file, then move it away';
    throw new InstallError('unreadable', `cannot read ${this.#journal}: ${found}`);
  }

  async beginJournal(steps: readonly Step[], isProved: boolean): Promise<void> {
    const text = journalHeader(steps, isProved);
    await this.#perform('begin journal', () => replaceOwn(this.#journal, text));
  }

  /** Resolves once the line is on disk; only then may the next action begin. */
  async addToJournal(line: JournalLine): Promise<void> {
    await this.#perform(`journal ${JSON.stringify(line)}`, async () => {
      const handle = await open(this.#journal, 'r+');
      try {
        // Removes an incomplete last line that a crash left.
        const text = await handle.readFile();
        const end = text.lastIndexOf(0x0a) + 1;
        await handle.truncate(end);
        const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
        // On a full disk, a write may take only a part, and still succeed.
        for (let from = 0; from < bytes.length;)
          from += (await handle.write(bytes, from, undefined, end + from)).bytesWritten;
        await handle.sync();
      } finally {
        await handle.close();
      }
    });
  }

  async endJournal(): Promise<void> {
    await this.clearContents();
    await this.#perform('end journal', () => unlink(this.#journal));
  }

  contentPath(sha256: string): string {
    return path.join(this.#contents, sha256);
  }

  /** @throws InstallError `changed` when the content has another digest. */
  async putContent(sha256: string, content: Content): Promise<void> {
    const target = this.contentPath(sha256);
    await this.#keep(sha256, async (temporary) => {
      if (content instanceof Uint8Array) {
        requireDigest(hash('sha256', content, 'hex'), sha256);
        const fill = { mode: PRIVATE };
        await writePendingFile(target, fill, (write) => write(content, 0), temporary);
        return;
      }
      await copyPendingFile(content.file, target, {
        algorithms: ['sha256'],
        mode: PRIVATE,
        maxBytes: MAX_CONTENT_BYTES,
        temporary,
        signal: this.#context.signal,
        accept: (found) => requireDigest(found.sha256, sha256),
      });
    });
  }

  /** @throws InstallError `changed` when the file that `write` produces has another digest. */
  async keepContent(sha256: string, write: (file: string) => Promise<void>): Promise<void> {
    await this.#keep(sha256, async (temporary) => {
      await write(temporary);
      const found = await hashFile(temporary, ['sha256'], { maxBytes: MAX_CONTENT_BYTES });
      requireDigest(found.sha256, sha256);
    });
  }

  async clearContents(): Promise<void> {
    await this.#perform('remove contents', () =>
      rm(this.#contents, { recursive: true, force: true }),
    );
  }

  async #keep(sha256: string, fill: (temporary: string) => Promise<void>): Promise<void> {
    const target = this.contentPath(sha256);
    if (existsSync(target)) return;
    const temporary = `${target}.tmp`;
    await this.#perform('keep content', async () => {
      await mkdir(this.#contents, { recursive: true, mode: 0o700 });
      await rm(temporary, { force: true });
      await fill(temporary);
    });
    await this.#perform('name content', async () => {
      await moveFile(temporary, target);
      await syncFolder(this.#folder);
    });
  }

  #perform(effect: string, task: () => Promise<void>): Promise<void> {
    return whenNotHeld(() => perform(this.#context, effect, task), HELD_FILE_MS);
  }
}

/** @throws TrustedFileError, for example for a link, or a file above 16 MiB. */
export async function readIfThere(file: string): Promise<string | undefined> {
  const bytes = await readBytesIfThere(file);
  return bytes && decodeAnyway(bytes);
}

export function readBytesIfThere(file: string): Promise<Buffer | undefined> {
  return readBytes(file, { maxBytes: MAX_BYTES }).catch(unlessNotFound);
}

const journalHeader = (steps: readonly Step[], isProved: boolean): string =>
  readableJson(HEADER_SCHEMA, { format: 1, isProved, steps }, 'write the journal');

function manifestText(manifest: Manifest): string {
  return readableJson(MANIFEST_SCHEMA, manifest, 'write the manifest', 2);
}

/** @throws InstallError `refused` for a value that could not be read back later. */
export function readableJson(
  schema: z.core.$ZodType,
  value: object,
  what: string,
  indent = 0,
): string {
  const text = `${JSON.stringify(value, null, indent)}\n`;
  const bytes = Buffer.byteLength(text);
  const isReadable = bytes <= MAX_FIRST_BYTES && parse(schema, text) !== undefined;
  if (isReadable) return text;
  const found =
    bytes > MAX_FIRST_BYTES
      ? `${bytes} bytes; wanted at most ${MAX_FIRST_BYTES} in all`
      : 'too many items or too long a value; wanted at most 1000 items, and at most 32767 characters in each value';
  throw new InstallError('refused', `cannot ${what}: found ${found}`);
}

async function replaceOwn(file: string, text: string): Promise<void> {
  const temporary = `${file}.tmp`;
  await rm(temporary, { force: true });
  await replaceFile(file, text, { temporary });
}

function parse<T>(schema: z.core.$ZodType<T>, text: string): T | undefined {
  try {
    return z.safeParse(schema, JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function requireDigest(found: string, wanted: string): void {
  if (found === wanted) return;
  const message = `cannot copy a file: its SHA-256 is ${found} instead of the planned ${wanted}. Run the command again`;
  throw new InstallError('changed', message);
}

function untrusted(location: string, distrust: Distrust): InstallError {
  return refused(distrusted('trust', location, distrust));
}

const refused = (cause: TrustedFileError) => new InstallError('refused', cause.message, { cause });
