import { networkIdentity } from '../index.js';

describe('the identity of a network', () => {
  it('is a digest, and the same each time', () => {
    expect(networkIdentity()).toMatch(/^[0-9a-f]{64}$/);
    expect(networkIdentity()).toBe(networkIdentity());
  });
});
