import { parseConfig } from '@wins/config';
import { CsiProxyStatusResponse } from '@wins/wins-api/contract';
import { checkCsiProxy } from './check-csi-proxy.js';
import type { DoctorHost } from '../../doctor/doctor-host.js';

const SECTION =
  'csi-proxy: {url: "https://example.com/%s.tar.gz", version: v1.1.3, kubeletPath: /k}';

async function look(status: Partial<CsiProxyStatusResponse> | Error, text = SECTION) {
  const csiProxyStatus = () =>
    status instanceof Error
      ? Promise.reject(status)
      : Promise.resolve(CsiProxyStatusResponse.fromPartial({ On: true, ...status }));
  const loaded = { ...parseConfig(text, { platform: 'linux' }), path: '/etc/config', found: true };
  const findings = await checkCsiProxy.look({ csiProxyStatus } as unknown as DoctorHost, loaded);
  return findings.map(({ level, found }) => `${level}: ${found}`);
}

describe('of csi-proxy the doctor says', () => {
  it('nothing where none is wanted, or the section is wrong', async () => {
    expect(await look({ State: 'serving' }, '')).toEqual([]);
    expect(await look({ State: 'serving' }, SECTION.replace('%s', '%d'))).toEqual([]);
  });

  it('that it cannot tell its state, and why', async () => {
    expect(await look(new Error('no daemon'))).toEqual([
      'warning: cannot determine the state of csi-proxy: no daemon',
    ]);
  });

  it('that it serves', async () => {
    expect(await look({ State: 'serving', Detail: 'v1.1.3 serves' })).toEqual([
      'ok: v1.1.3 serves',
    ]);
  });

  it('what failed, and that it is off, or on its way', async () => {
    expect(await look({ State: 'failed', Detail: 'cannot fetch it' })).toEqual([
      'problem: cannot fetch it',
    ]);
    expect(await look({ On: false, Reason: 'x' })).toEqual([
      'warning: the daemon does not manage it: x',
    ]);
    expect(await look({ State: 'fetching', Detail: 'v1.1.3' })).toEqual([
      'warning: fetching: v1.1.3',
    ]);
  });
});
