import { camelCaseKeys } from './camel-case-keys.js';
import * as contract from './contract.js';

describe('a message of the wire in camelCase', () => {
  it('has its keys, within lists and messages too, and numbers for large integers', () => {
    const message = { On: true, Runs: [{ PID: 7, StartedAtMs: 5n, Usage: undefined }], File: '' };
    expect(camelCaseKeys(message)).toEqual({
      ...{ on: true, file: '' },
      runs: [{ pid: 7, startedAtMs: 5, usage: undefined }],
    });
  });
});

describe('the messages of the contract', () => {
  it('have no acronym that camelCase leaves in capitals', () => {
    const messages = Object.values(contract).filter(
      (one): one is typeof contract.ProcessExit => typeof one === 'object' && 'fromPartial' in one,
    );
    const keys = messages.flatMap((message) => Object.keys(camelCaseKeys(message.fromPartial({}))));
    expect(keys).toContain('digestSha256');
    expect(keys.filter((key) => /^[A-Z]|[A-Z]{2}/.test(key))).toEqual([]);
  });
});
