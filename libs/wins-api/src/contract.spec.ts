import { camelCaseKeys } from '@wins/base';
import * as contract from './contract.js';

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
