import { parseConfig } from '@wins/config';
import { HostNetworkStatusResponse, HostRouteStanding } from '@wins/wins-api/contract';
import type { DoctorHost } from '../../doctor/doctor-host.js';
import { checkNetwork } from './check-network.js';

const SECTION = 'hostNetwork: {keep: [gce]}';
const route = (State: string, Detail = '') =>
  HostRouteStanding.fromPartial({ Destination: '10.1.0.0/16', State, Detail });

async function look(status: Partial<HostNetworkStatusResponse> | Error, text = SECTION) {
  const networkStatus = () =>
    status instanceof Error
      ? Promise.reject(status)
      : Promise.resolve(HostNetworkStatusResponse.fromPartial({ On: true, ...status }));
  const loaded = { ...parseConfig(text, { platform: 'linux' }), path: '/etc/config', found: true };
  const findings = await checkNetwork.look({ networkStatus } as unknown as DoctorHost, loaded);
  return findings.map(({ level, found }) => `${level}: ${found}`);
}

describe('of the network of the host the doctor says', () => {
  it('nothing where none is wanted', async () => {
    expect(await look({ State: 'settled' }, '')).toEqual([]);
    expect(await look({ State: 'settled' }, 'hostNetwork: {}')).toEqual([]);
  });

  it('that routes stand as they are wanted', async () => {
    const Routes = [route('applied'), route('foreign')];
    expect(await look({ State: 'settled', Routes })).toEqual([
      'ok: 2 routes stand as they are wanted',
    ]);
  });

  it('that it is off, was taken down, or cannot be told', async () => {
    expect(await look({ On: false, Reason: 'x' })).toEqual([
      'warning: the daemon does not keep it: x',
    ]);
    expect(await look({ Down: true })).toEqual(['warning: it was taken down by hand']);
    expect(await look({ State: 'starting' })).toEqual(['warning: it is starting']);
    expect(await look(new Error('no daemon'))).toEqual([
      'warning: cannot tell how the routes of the host stand: no daemon',
    ]);
  });

  it('which routes failed, are refused, wait or belong to nobody, each first three', async () => {
    const Routes = [
      route('conflict', 'in the way'),
      route('rejected', 'the host itself is in it'),
      route('waiting', 'no default route'),
    ];
    const Problems = ['a', 'b', 'c', 'd', 'e'];
    expect(await look({ State: 'partial', Routes, Problems, Orphans: ['10.9.0.0/16'] })).toEqual([
      'problem: a; b; c; and 2 more',
      'problem: 10.1.0.0/16: in the way; 10.1.0.0/16: the host itself is in it',
      'warning: 10.1.0.0/16: no default route',
      'warning: routes with the mark of wins that nothing accounts for: 10.9.0.0/16',
    ]);
  });
});
