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
    const status = { state: 'serving', detail: 'v1.1.3 serves' } as const;
    expect(csiProxyFacts({ status, desired: DESIRED })).toEqual({
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
    const failure = { code: 'notServing', failures: 2, retryAt: '2026-03-01T12:00:00Z' } as const;
    const status = { state: 'failed', detail: 'no pipe', failure } as const;
    expect(csiProxyFacts({ status, desired: undefined })).toEqual(status);
  });
});
