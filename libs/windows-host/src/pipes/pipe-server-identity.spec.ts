import { judgePipeServer, type PipeServerEvidence } from './secured-pipe-client.js';

const USER = 'S-1-5-21-1-2-3-1001';
const SERVED_BY_ADMINISTRATORS = 'O:BAG:SYD:P(A;;FA;;;BA)(A;;FA;;;SY)';
const system = { user: 'S-1-5-18', isPrivileged: true };
const elevated = { user: USER, isPrivileged: true };
const plain = { user: USER, isPrivileged: false };
const evidence = (parts: Partial<PipeServerEvidence>): PipeServerEvidence => ({
  serverPid: 40,
  servicePid: undefined,
  account: undefined,
  sddl: SERVED_BY_ADMINISTRATORS,
  ...parts,
});

describe('judgePipeServer', () => {
  it.each<[string, Partial<PipeServerEvidence>, string]>([
    ['the service', { servicePid: 40, account: system }, 'process 40 is the service'],
    [
      'the service, at which this user may not look',
      { servicePid: 40, sddl: 'O:SYD:(A;;FA;;;SY)(A;;GRGW;;;BU)' },
      'process 40 is the service',
    ],
    ['SYSTEM', { account: system }, 'process 40 runs with privileges'],
    ['an elevated process', { account: elevated }, 'process 40 runs with privileges'],
    [
      'an elevated process that owns what it makes itself',
      { account: elevated, sddl: `O:${USER}D:(A;;FA;;;BA)` },
      'process 40 runs with privileges',
    ],
    [
      'a host, from within a container',
      {},
      'process 40 cannot be queried, and only SYSTEM and Administrators may serve the pipe',
    ],
    [
      'a host that lets others open but not serve, from within a container',
      { sddl: 'O:SYD:P(A;;FA;;;BA)(A;;FA;;;SY)(A;;0x12019b;;;AU)' },
      'process 40 cannot be queried, and only SYSTEM and Administrators may serve the pipe',
    ],
  ])('trusts %s', (_what, parts, reason) => {
    expect(judgePipeServer(evidence(parts))).toEqual({ isTrusted: true, reason });
  });

  it.each<[string, Partial<PipeServerEvidence>, RegExp]>([
    [
      'a process of a user',
      { account: plain, sddl: `O:${USER}D:(A;;FA;;;WD)` },
      /belongs to S-1-5-21/,
    ],
    ['the same beside the service', { servicePid: 41, account: plain }, /as S-1-5-21.*without/],
    [
      'a pipe of a user under the number of the service',
      { servicePid: 40, sddl: `O:${USER}D:(A;;FA;;;BA)` },
      /belongs to/,
    ],
    [
      'a pipe of a user under the number of SYSTEM',
      { account: system, sddl: `O:${USER}D:(A;;FA;;;BA)` },
      /belongs to/,
    ],
    ['a pipe of a user that hides', { sddl: `O:${USER}D:P(A;;FA;;;BA)` }, /belongs to/],
    [
      'a pipe that others may serve too, and one that hides does',
      { sddl: 'O:BAD:(A;;FA;;;BA)(A;;GW;;;AU)' },
      /S-1-5-11 may serve/,
    ],
    [
      'a pipe whose list others may change',
      { sddl: 'O:BAD:(A;;FA;;;BA)(A;;WD;;;AU)' },
      /S-1-5-11 may serve/,
    ],
    ['a pipe without a list', { sddl: 'O:BAD:NO_ACCESS_CONTROL' }, /S-1-1-0 may serve/],
    [
      'a pipe that tells no owner',
      { account: system, sddl: 'D:(A;;FA;;;BA)' },
      /an unknown account/,
    ],
    [
      'no process at all for a service that does not run',
      { serverPid: 0, servicePid: 0, account: plain },
      /without/,
    ],
  ])('refuses %s', (_what, parts, reason) => {
    const verdict = judgePipeServer(evidence(parts));
    expect(verdict.reason).toMatch(reason);
    expect(verdict.isTrusted).toBe(false);
  });
});
