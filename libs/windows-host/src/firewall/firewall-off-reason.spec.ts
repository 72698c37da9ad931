import { firewallOffReason, type FirewallSwitches } from './firewall-off-reason.js';

const LOCAL = 'SYSTEM\\CurrentControlSet\\Services\\SharedAccess\\Parameters\\FirewallPolicy';
const POLICY = 'SOFTWARE\\Policies\\Microsoft\\WindowsFirewall';
const OFF = Object.fromEntries(
  ['DomainProfile', 'PublicProfile', 'StandardProfile'].map((name) => [`${LOCAL}\\${name}`, false]),
);
const reason = (
  values: Readonly<Record<string, boolean>>,
  state: ReturnType<FirewallSwitches['serviceState']> = 'running',
) => firewallOffReason({ serviceState: () => state, enabled: (path) => values[path] });

describe('a firewall', () => {
  it.each([
    ['whose service is stopped', {}, 'stopped', 'the firewall service (MpsSvc) is stopped'],
    ['that is off in every profile', OFF, 'running', 'the firewall is off in every profile'],
    [
      'that a policy turns off',
      {
        [`${POLICY}\\DomainProfile`]: false,
        [`${POLICY}\\PublicProfile`]: false,
        [`${POLICY}\\PrivateProfile`]: false,
      },
      'running',
      'the firewall is off in every profile',
    ],
  ] as const)('%s filters nothing', (_what, values, state, why) => {
    expect(reason(values, state)).toBe(why);
  });

  it('that does not exist filters nothing', () => {
    const none = firewallOffReason({ serviceState: () => undefined, enabled: () => undefined });
    expect(none).toBe('this host has no firewall service (MpsSvc)');
  });

  it.each([
    ['about which nothing is known', {}, 'running'],
    ['that starts', {}, 'startPending'],
    ['that is on in one profile', { ...OFF, [`${LOCAL}\\PublicProfile`]: true }, 'running'],
    ['of which one profile says nothing', { [`${LOCAL}\\PublicProfile`]: false }, 'running'],
    ['that a policy turns on', { ...OFF, [`${POLICY}\\StandardProfile`]: true }, 'running'],
    [
      'that device management turns on',
      { ...OFF, [`${LOCAL}\\Mdm\\DomainProfile`]: true },
      'running',
    ],
    [
      'of which two policies say different things',
      { ...OFF, [`${POLICY}\\PrivateProfile`]: true, [`${POLICY}\\StandardProfile`]: false },
      'running',
    ],
  ] as const)('%s may filter', (_what, values, state) => {
    expect(reason(values, state)).toBeUndefined();
  });

  it('that cannot be asked may filter', () => {
    const fail = (): never => {
      throw new Error('access denied');
    };
    expect(firewallOffReason({ serviceState: fail, enabled: () => false })).toBeUndefined();
    expect(firewallOffReason({ serviceState: () => 'running', enabled: fail })).toBeUndefined();
  });
});
