import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { askVersion, runProgram } from './run/run-program.js';
import { withLock } from './run/private-folder.js';

const reason = new Error('enough');
const timeoutMs = 30_000;
const aborted = { name: 'UpgradeError', code: 'aborted', cause: reason };

describe('each function that waits ends as aborted, with the reason of the signal as its cause', () => {
  let folder: string;
  let program: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-abort-'));
    program = path.join(folder, 'program');
    writeFileSync(program, '#!/bin/sh\nexec sleep 60\n');
    chmodSync(program, 0o700);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const never = (): Promise<never> => Promise.reject(new Error('it ran'));
  /** A lock that another process holds; `onLook` is called when the wait begins. */
  const heldBy = (onLook: () => void) => ({
    name: 'wins',
    lock: () => {
      onLook();
      return Promise.resolve(undefined);
    },
  });

  it.each<[string, (signal: AbortSignal, stop: () => void) => Promise<unknown>]>([
    [
      'runProgram',
      (signal, stop) => {
        const ran = runProgram(program, [], { signal, timeoutMs });
        stop();
        return ran;
      },
    ],
    [
      'askVersion',
      (signal, stop) => {
        const asked = askVersion(program, { signal, timeoutMs });
        stop();
        return asked;
      },
    ],
    ['withLock', (signal, stop) => withLock(heldBy(stop), never, { signal, timeoutMs })],
  ])('%s', async (_name, call) => {
    const stop = new AbortController();
    await expect(call(stop.signal, () => stop.abort(reason))).rejects.toMatchObject(aborted);
    await expect(call(stop.signal, () => undefined)).rejects.toMatchObject(aborted);
  });
});
