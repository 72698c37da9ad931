import childProcess from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

import { createNodeProcessHost } from './node-process-host.js';
import { createPrivateDirectory, writeTestProgram } from '../testing/index.js';

describe('a start of what somebody has open for writing', () => {
  it('is tried again after each wait, and says why not after the last try', async () => {
    const directory = createPrivateDirectory();
    const { path: file } = writeTestProgram(directory.path, 'tool', 'exit 0', '/bin/sh');
    const writer = openSync(file, 'a');
    const spawns = jest.spyOn(childProcess, 'spawn');
    const identity = { mark: 'ab'.repeat(16), lineage: 'cd'.repeat(8), argv0: file };
    const started = createNodeProcessHost().start({
      ...{ ...identity, file, args: [], env: {}, directory: '/', mayBreakAway: false },
    });
    await expect(started).rejects.toMatchObject({
      ...{ code: 'spawnFailed', message: expect.stringMatching(/: ETXTBSY$/) as string },
    });
    // Six waits lie between seven tries.
    expect(spawns).toHaveBeenCalledTimes(7);
    spawns.mockRestore();
    closeSync(writer);
    directory.close();
  });
});
