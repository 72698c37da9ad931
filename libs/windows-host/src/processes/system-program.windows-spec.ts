import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runSystemProgram } from './system-program.js';

describe('a program of System32', () => {
  it('is found without a search', () => runSystemProgram('netsh.exe', ['advfirewall', 'show']));

  it('is told apart from one that fails, with what it said', async () => {
    await assert.rejects(runSystemProgram('reg.exe', ['query', 'HKLM\\SOFTWARE\\not there']), {
      code: 'unknown',
      message:
        /System32\\reg\.exe query HKLM\\SOFTWARE\\not there: it ended with 1 and said ".*"; wanted 0/,
    });
  });

  it('is told apart from one that is not there', async () => {
    await assert.rejects(runSystemProgram('not-there.exe', []), { code: 'unavailable' });
  });

  it('ends when it is told to', async () => {
    const abort = new AbortController();
    // The program waits for a line that never comes.
    const running = runSystemProgram('cmd.exe', ['/k'], abort.signal);
    abort.abort(new Error('the client is gone'));
    await assert.rejects(running, /the client is gone/);
  });
});
