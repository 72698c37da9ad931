import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';

import { errnoOf } from '@wins/base';

/** Writes its argument to a file, then waits until `wake` writes to the FIFO. Killing its process group ends it. */
const PROGRAM = `#!/bin/sh
me="$0.waiting/$$"
/usr/bin/mkfifo "$me.fifo" && echo "$1" > "$me.new" && /bin/mv "$me.new" "$me.seconds" && read woken < "$me.fifo"
`;

/**
 * The `sleep` commands of a replay. Each is a script that waits on the fake clock: it ends when `wake` is called with its
 * end time or a later time.
 */
export class StoppedSleeps {
  /** First folder of the agent's PATH. */
  readonly searchPath: string;
  readonly #waiting: string;
  readonly #sleepers = new Map<string, number>();

  constructor(folder: string) {
    this.searchPath = path.join(folder, 'sleeps');
    this.#waiting = path.join(this.searchPath, 'sleep.waiting');
    mkdirSync(this.#waiting, { recursive: true });
    writeFileSync(path.join(this.searchPath, 'sleep'), PROGRAM, { mode: 0o755 });
  }

  /** Returns the end of each sleep, in milliseconds of the fake clock. */
  endsMs(nowMs: number): number[] {
    for (const name of readdirSync(this.#waiting).filter((one) => one.endsWith('.seconds'))) {
      const id = name.replace('.seconds', '');
      if (this.#sleepers.has(id)) continue;
      const seconds = Number(readFileSync(path.join(this.#waiting, name), 'utf8'));
      this.#sleepers.set(id, nowMs + seconds * 1000);
    }
    return [...this.#sleepers.values()];
  }

  async wake(nowMs: number): Promise<void> {
    for (const [id, endMs] of this.#sleepers) {
      if (endMs > nowMs) continue;
      this.#forget(id);
      const fifo = path.join(this.#waiting, `${id}.fifo`);
      const handle = await openForWriting(fifo);
      await handle.write('\n');
      await handle.close();
      rmSync(fifo);
    }
  }

  /** Call after the programs have ended. */
  forget(): void {
    for (const id of this.#sleepers.keys()) this.#forget(id);
  }

  #forget(id: string): void {
    this.#sleepers.delete(id);
    rmSync(path.join(this.#waiting, `${id}.seconds`), { force: true });
  }
}

/** Waits until the program reads from the FIFO. */
async function openForWriting(fifo: string): Promise<FileHandle> {
  for (;;) {
    try {
      return await open(fifo, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      if (errnoOf(error) !== 'ENXIO') throw error;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
