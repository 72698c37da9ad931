import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WindowsError } from '../../windows-error.js';
import { kernel32 } from '../kernel32.js';
import { call } from './call.js';
import { systemLibrary } from './system-library.js';

describe('a library of the system', () => {
  it('names the file and the feature when it is not there', () => {
    assert.throws(
      () => systemLibrary('not-there.dll', 'the feature', ['void NotThere()']).NotThere(),
      {
        name: 'WindowsError',
        code: 'unavailable',
        message: /System32\\not-there\.dll: the feature is not installed/,
      },
    );
  });

  it('names the function that it lacks', () => {
    assert.throws(() => systemLibrary('kernel32.dll', 'Windows', ['void NotThere()']).NotThere(), {
      code: 'unavailable',
      message: /"void NotThere\(\)"/,
    });
  });

  it('tells function, number and symbol of a call that failed', () => {
    assert.throws(
      () => call('closed what is no handle', kernel32.CloseHandle, 0x7ff0),
      (error) => {
        assert.ok(error instanceof WindowsError);
        assert.equal(error.functionName, 'CloseHandle');
        assert.equal(error.symbol, 'ERROR_INVALID_HANDLE');
        assert.equal(error.errorNumber, 6);
        return true;
      },
    );
  });
});
