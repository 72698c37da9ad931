import { EXIT, messageOf, quoteText, UsageError } from '@wins/base';
import { readBytes, TrustedFileError } from '@wins/trusted-files';
import { WinsClientError, type ProcessName, type RunFile, type WinsClient } from '@wins/wins-api';
import { processServiceDefinition } from '@wins/wins-api/contract';
import { watch } from 'node:fs';
import path from 'node:path';
import { CommandError } from '../command-error.js';

/** Maximum size of a mounted file, in bytes. The daemon refuses larger files, because this is also the maximum of `files.maxBytes` in its config. */
const MAX_FILE_BYTES = 768 * 1024;
/** Delay before a read, because kubelet writes several files and then swaps one link. */
const QUIET_MS = 250;
/** Polling is needed, because a watcher sees no events after its whole folder was replaced. */
const LOOK_EVERY_MS = 60_000;
const RETRY_MS = 2000;

export interface MountedFile {
  readonly path: string;
  /** Name of the file in the folder of the run. */
  readonly name: string;
}

/** The daemon validates the names. @throws UsageError for a word that is not `PATH=NAME`. */
export function readMounts(words: readonly string[] = []): readonly MountedFile[] {
  return words.map((word) => {
    const at = word.lastIndexOf('=');
    if (at > 0 && at < word.length - 1)
      return { path: path.resolve(word.slice(0, at)), name: word.slice(at + 1) };
    throw new UsageError(`--mount-file: found ${quoteText(word)}; wanted PATH=NAME`);
  });
}

/** @throws CommandError (127) for a file that cannot be read. */
export async function readFiles(mounts: readonly MountedFile[]): Promise<RunFile[]> {
  return Promise.all(
    mounts.map(async ({ path: file, name }) => {
      try {
        return { name, content: await readMounted(file) };
      } catch (cause) {
        const found = cause instanceof TrustedFileError ? cause.found : messageOf(cause);
        const message = `--mount-file: cannot read ${file}: ${found}`;
        throw new CommandError(message, EXIT.client.notFound, { cause });
      }
    }),
  );
}

/**
 * Sends each later change of the files until disposal. If sending fails, the run keeps the old content, and `say` gets the reason once.
 */
export function followFiles(
  client: Pick<WinsClient, 'call'>,
  run: ProcessName,
  { mounts, files }: { readonly mounts: readonly MountedFile[]; readonly files: RunFile[] },
  say: (text: string) => void,
): Disposable {
  const sent = new Map(files.map(({ name, content }) => [name, content]));
  const said = new Map<string, string>();
  const over = new AbortController();
  const { signal } = over;
  let timer: NodeJS.Timeout | undefined;
  let isSending = false;

  const sayOnce = (name: string, text: string): void => {
    if (said.get(name) !== text && !signal.aborted) say(text);
    said.set(name, text);
  };
  /** @returns true if the change must be sent again later. */
  const send = async ({ path: file, name }: MountedFile): Promise<boolean> => {
    let content: Buffer;
    try {
      content = await readMounted(file);
    } catch (error) {
      const found = error instanceof TrustedFileError ? error.found : messageOf(error);
      sayOnce(
        name,
        `cannot read ${file}: ${found}; the run keeps the previous content of the file`,
      );
      return false;
    }
    if (sent.get(name)?.equals(content) === true) return false;
    try {
      const request = { data: run, file: { name, content } };
      await client.call(processServiceDefinition.updateFile, request, { signal });
      sent.set(name, content);
      said.delete(name);
      return false;
    } catch (error) {
      if (!(error instanceof WinsClientError)) throw error;
      if (error.reason === 'tooManyChanges') return true;
      // The end of a run is not reported here, because the reader of the output reports it.
      const isGone = error.code === 'unavailable' || error.code === 'notFound';
      if (!isGone)
        sayOnce(
          name,
          `cannot update ${file}: ${error.details}; the run keeps the previous content of the file`,
        );
      return false;
    }
  };
  const look = async (): Promise<void> => {
    if (isSending) {
      lookAfter(QUIET_MS);
      return;
    }
    isSending = true;
    let isAgain = false;
    for (const mount of mounts) if (!signal.aborted) isAgain = (await send(mount)) || isAgain;
    isSending = false;
    if (isAgain) lookAfter(RETRY_MS);
  };
  const lookAfter = (ms: number): void => {
    clearTimeout(timer);
    if (!signal.aborted) timer = setTimeout(() => void look(), ms).unref();
  };

  const folders = new Set(mounts.map((mount) => path.dirname(mount.path)));
  const watches = [...folders].flatMap((folder) => {
    try {
      const watching = watch(folder, { persistent: false }, () => lookAfter(QUIET_MS));
      // Errors are ignored, because polling continues even if the folder disappears or the host has no more watches.
      return [watching.on('error', () => undefined)];
    } catch {
      return [];
    }
  });
  const looking = setInterval(() => lookAfter(0), LOOK_EVERY_MS).unref();
  // Picks up changes from before the folders were watched.
  lookAfter(0);
  return {
    [Symbol.dispose]: () => {
      over.abort();
      clearTimeout(timer);
      clearInterval(looking);
      for (const watching of watches) watching.close();
    },
  };
}

/** Follows links, because kubelet points to the content through two links. */
function readMounted(file: string): Promise<Buffer> {
  return readBytes(file, { followLinks: true, maxBytes: MAX_FILE_BYTES });
}
