import childProcess from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { posixProcessHost } from './posix-process-host.js';

describe('a start of a file that somebody has open for writing', () => {
  it('is tried again after each wait, and says why not after the last try', async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'linux-host-'));
    const file = path.join(directory, 'tool');
    writeFileSync(file, '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    const writer = openSync(file, 'a');
    const spawns = jest.spyOn(childProcess, 'spawn');
    const started = posixProcessHost({
      failure: (code, message) => Object.assign(new Error(message), { code }),
    }).start({
      mark: 'ab'.repeat(16),
      lineage: 'cd'.repeat(8),
      file,
      argv0: file,
      args: [],
      env: {},
      directory: '/',
    });
    await expect(started).rejects.toMatchObject({
      code: 'spawnFailed',
      message: expect.stringMatching(/: ETXTBSY$/) as string,
    });
    // Six waits lie between seven tries.
    expect(spawns).toHaveBeenCalledTimes(7);
    spawns.mockRestore();
    closeSync(writer);
    rmSync(directory, { recursive: true });
  });
});
