import { camelCaseKeys } from './camel-case-keys.js';

describe('a message of the wire in camelCase', () => {
  it('has its keys, within lists and messages too, and numbers for large integers', () => {
    const message = { On: true, Runs: [{ PID: 7, StartedAtMs: 5n, Usage: undefined }], File: '' };
    expect(camelCaseKeys(message)).toEqual({
      ...{ on: true, file: '' },
      runs: [{ pid: 7, startedAtMs: 5, usage: undefined }],
    });
  });
});
