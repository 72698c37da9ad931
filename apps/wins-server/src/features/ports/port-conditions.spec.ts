import { sourceConditions } from '../host-network/source-conditions.js';
import { portConditions } from './port-conditions.js';
import type { PortStanding } from '@wins/tcp-tunnel';

function look(states: Partial<Record<PortStanding['state'], string>>) {
  const standings = Object.entries(states).map(([state, detail]): PortStanding => ({
    proto: 'tcp',
    listen: '0.0.0.0:8080',
    to: '10.1.0.2:80',
    open: 0,
    detail,
    state: state as PortStanding['state'],
  }));
  return portConditions({ standings }).map(({ level, found }) => `${level}: ${found}`);
}

it('of ports of the host the daemon reports how each stands that does not listen', () => {
  expect(look({})).toEqual([]);
  expect(look({ listening: '' })).toEqual(['ok: 1 port is relayed']);
  const states = { busy: 'another program', rejected: 'no', failed: 'no adapter', down: '' };
  expect(look(states)).toEqual([
    'problem: tcp 0.0.0.0:8080 is busy: another program',
    'problem: tcp 0.0.0.0:8080 is rejected: no',
    'problem: tcp 0.0.0.0:8080 is failed: no adapter',
    'warning: tcp 0.0.0.0:8080 was torn down by hand',
  ]);
  expect(look({ listening: 'another program listens at 10.0.0.1' })).toEqual([
    'warning: tcp 0.0.0.0:8080 is not reached everywhere: another program listens at 10.0.0.1',
  ]);
});

it('of ports of containers the advice is about containers', () => {
  const standing = { proto: 'tcp', listen: '0.0.0.0:22', to: '10.1.0.2:22', open: 0 } as const;
  const standings = [{ ...standing, state: 'rejected', detail: 'reserved' } as const];
  const nothing = { version: '', items: [], skipped: [], skippedCount: 0, problem: '' };
  const contact = { ageMs: 0, sinceMs: 0, isDoubted: false, state: 'current' } as const;
  const reported = [
    ...portConditions({ standings }),
    ...sourceConditions({ source: 'containers', ...nothing, ...contact, isLimited: true }),
  ];
  expect(reported.flatMap(({ advice }) => advice ?? [])).toEqual([
    'correct hostNetwork.ports in the config, or the ports of the container',
    'publish fewer ports',
  ]);
});
