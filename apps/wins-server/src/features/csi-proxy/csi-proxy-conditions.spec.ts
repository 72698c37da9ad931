import { csiProxyConditions } from './csi-proxy-conditions.js';
import type { CsiProxyStatus } from './csi-proxy-facts.js';
import type { DesiredCsiProxy } from './settings/judge-settings.js';

const DESIRED = { version: 'v1.1.3' } as DesiredCsiProxy;
const FAILURE = {
  code: 'digestMismatch',
  failures: 2,
  retryAt: '2026-03-01T12:00:00.000Z',
} as const;

function look(status: CsiProxyStatus, desired: DesiredCsiProxy | undefined = DESIRED) {
  return csiProxyConditions({ status, desired });
}

describe('of csi-proxy the daemon reports', () => {
  it('nothing where none is wanted', () => {
    const status = { state: 'absent', detail: 'nothing is installed' } as const;
    expect(csiProxyConditions({ status, desired: undefined })).toEqual([]);
  });

  it('that it serves, which a summary shows', () => {
    expect(look({ state: 'serving', detail: 'v1.1.3 serves' })).toEqual([
      { check: 'csi-proxy', level: 'ok', found: 'v1.1.3 serves', isSummary: true },
    ]);
  });

  it('that it cannot be removed', () => {
    const detail = 'cannot stop the service';
    const failed = { state: 'failed', detail, failure: FAILURE } as const;
    expect(csiProxyConditions({ status: failed, desired: undefined })).toMatchObject([
      { level: 'problem', code: 'csiProxyFailed', found: detail },
    ]);
  });

  it('what failed, and when it tries again', () => {
    const failure = FAILURE;
    expect(look({ state: 'failed', detail: 'cannot fetch it', failure })).toMatchObject([
      {
        code: 'csiProxyFailed',
        level: 'problem',
        found: 'cannot fetch it',
        advice:
          'correct it; the next attempt is at 2026-03-01T12:00:00.000Z, or now by "wins srv csi-proxy apply"',
      },
    ]);
  });

  it('that it is on its way, if that takes longer than two minutes', () => {
    expect(look({ state: 'fetching', detail: 'v1.1.3' })).toMatchObject([
      { level: 'warning', found: 'fetching: v1.1.3', visibleAfterMs: 120_000 },
    ]);
  });
});
