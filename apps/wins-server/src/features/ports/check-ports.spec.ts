import { parseConfig } from '@wins/config';
import { HostNetworkStatusResponse, HostPortStanding } from '@wins/wins-api/contract';
import type { DoctorHost } from '../../doctor/doctor-host.js';
import { checkHostPorts } from './check-ports.js';

const SECTION = "hostNetwork: {ports: [{proto: tcp, listen: '0.0.0.0:8080', to: '10.1.0.2:80'}]}";

async function look(states: Readonly<Record<string, string>> | Error, text = SECTION) {
  const told = states instanceof Error ? {} : states;
  const Ports = Object.entries(told).map(([State, Detail]) =>
    HostPortStanding.fromPartial({ Protocol: 'tcp', Listen: '0.0.0.0:8080', State, Detail }),
  );
  const networkStatus = () =>
    states instanceof Error
      ? Promise.reject(states)
      : Promise.resolve(HostNetworkStatusResponse.fromPartial({ Ports }));
  const loaded = { ...parseConfig(text, { platform: 'linux' }), path: '/etc/config', found: true };
  const findings = await checkHostPorts.look({ networkStatus } as unknown as DoctorHost, loaded);
  return findings.map(({ level, found }) => `${level}: ${found}`);
}

it('of ports of the host the doctor says how each stands that does not listen', async () => {
  expect(await look({ listening: '' }, '')).toEqual([]);
  expect(await look({ listening: '' })).toEqual(['ok: 1 ports are relayed']);
  const states = { busy: 'another program', rejected: 'no', failed: 'no adapter', down: '' };
  expect(await look(states)).toEqual([
    'problem: tcp 0.0.0.0:8080 is busy: another program',
    'problem: tcp 0.0.0.0:8080 is rejected: no',
    'problem: tcp 0.0.0.0:8080 is failed: no adapter',
    'warning: tcp 0.0.0.0:8080 was torn down by hand',
  ]);
  expect(await look({ listening: 'another program listens at 10.0.0.1' })).toEqual([
    'warning: tcp 0.0.0.0:8080 is not reached everywhere: another program listens at 10.0.0.1',
  ]);
  expect(await look(new Error('no daemon'))).toEqual([
    'warning: cannot determine the state of the ports: no daemon',
  ]);
});
