import type { PipeClient } from './secured-pipe.js';
import { windowsClient } from './windows-clients.js';

describe('a client on Windows', () => {
  const [SYSTEM, ADMINISTRATOR, CONTAINER] = ['S-1-5-18', 'S-1-5-21-1-2-3-500', 'S-1-5-93-2-1'];
  const known = (user: string, session: number, isPrivileged = true): PipeClient => ({
    pid: 7,
    session,
    account: { user, isPrivileged },
  });
  const client = (user: string, session: number, isPrivileged = true) =>
    windowsClient(known(user, session, isPrivileged));

  it.each<[string, ReturnType<typeof client>, boolean, string]>([
    ['a service of the host', client(SYSTEM, 0), true, `account:${SYSTEM} session:0`],
    [
      'an administrator beside it',
      client(ADMINISTRATOR, 0),
      true,
      `account:${ADMINISTRATOR} session:0`,
    ],
    ['a user without rights', client('S-1-5-20', 0, false), false, 'account:S-1-5-20 session:0'],
    ['SYSTEM of a container', client(SYSTEM, 5), false, `account:${SYSTEM} session:5`],
    [
      'the administrator of a container',
      client(CONTAINER, 5),
      false,
      `account:${CONTAINER} session:5`,
    ],
    [
      'an account of containers, wherever',
      client(CONTAINER, 0),
      false,
      `account:${CONTAINER} session:0`,
    ],
  ])('is told apart by account and session: %s', (_what, found, isAdministrator, key) => {
    expect(found).toMatchObject({ key, isAdministrator, isEverybody: false });
  });

  it('is described by what the system said', () => {
    expect(client(CONTAINER, 5).description).toEqual({
      pid: 7,
      account: CONTAINER,
      session: 5,
      container: 'session 5',
    });
  });

  it.each<[string, ReturnType<typeof client>, readonly string[]]>([
    ['a service of the host', client(SYSTEM, 0), ['administrators', `account:${SYSTEM}`]],
    ['a user without rights', client('S-1-5-20', 0, false), ['account:S-1-5-20']],
    ['SYSTEM of a container', client(SYSTEM, 5), []],
    ['whoever has the number of an account of the host', client(ADMINISTRATOR, 5), []],
    [
      'the administrator of a container',
      client(CONTAINER, 5),
      [`account:${CONTAINER}`, 'container:session 5'],
    ],
  ])('is called nothing that a container could be as well: %s', (_what, found, names) => {
    expect(found.names).toEqual(names);
  });

  it.each<[string, PipeClient, boolean]>([
    ['an administrator at the console', known(ADMINISTRATOR, 1), true],
    ['SYSTEM in such a session', known(SYSTEM, 2), true],
    ['a user without rights', known('S-1-5-20', 1, false), false],
    ['an account of containers', known(CONTAINER, 5), false],
    ['one that cannot be looked at', { pid: 7, session: 1, account: undefined }, false],
  ])('on the pipe of administrators is one in any session: %s', (_what, one, isAdministrator) => {
    expect(windowsClient(one, true).isAdministrator).toBe(isAdministrator);
  });

  it('that cannot be looked at is no administrator', () => {
    expect(windowsClient({ pid: 7, session: undefined, account: undefined })).toEqual({
      key: 'unidentified',
      isAdministrator: false,
      isEverybody: false,
      description: { pid: 7 },
      names: [],
    });
  });
});
