import { csiProxyFacts } from './csi-proxy-facts.js';

const DESIRED = {
  version: 'v1.1.3',
  sha256: 'a'.repeat(64),
  args: ['-v=1'],
  folder: '/f',
  trust: {},
  url: 'https://example.com/x?sig=secret',
};

describe('the facts of csi-proxy', () => {
  it('are its state and the wanted release, whose address lacks the query', () => {
    const state = { kind: 'serving', detail: 'v1.1.3 serves' } as const;
    expect(csiProxyFacts({ state, desired: DESIRED })).toEqual({
      state: 'serving',
      detail: 'v1.1.3 serves',
      wanted: {
        version: 'v1.1.3',
        sha256: 'a'.repeat(64),
        address: 'https://example.com/x',
        folder: '/f',
        arguments: ['-v=1'],
      },
    });
  });

  it('have the failure and the time of the next attempt', () => {
    const failed = { kind: 'failed', code: 'notServing', detail: 'no pipe', failures: 2 } as const;
    const state = { ...failed, retryAt: new Date('2026-03-01T12:00:00Z') };
    expect(csiProxyFacts({ state, desired: undefined })).toEqual({
      state: 'failed',
      detail: 'no pipe',
      failure: { code: 'notServing', failures: 2, retryAt: '2026-03-01T12:00:00.000Z' },
    });
  });
});
