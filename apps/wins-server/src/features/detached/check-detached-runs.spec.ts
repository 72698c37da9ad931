import { parseConfig } from '@wins/config';
import type { DetachedSummary } from '@wins/wins-api/contract';
import type { DoctorHost } from '../../doctor/doctor-host.js';
import { checkDetachedRuns } from './check-detached-runs.js';

const [OLD, NEW] = ['a'.repeat(64), 'b'.repeat(64)];
const CONFIG = `keep: [{ path: /opt/one }, { path: /opt/pinned, sha256: ${OLD} }]`;
const RUN: DetachedSummary = {
  Name: 'keep:one',
  Process: 'rancher-wins-one',
  Path: '/opt/one',
  PID: 7,
  StartedAtMs: 0n,
  Restarts: 0,
  RestartAtMs: 0n,
  GaveUp: '',
  State: 'running',
  Refused: '',
  NeedsSha256: '',
};
const CLIENTS = { Name: 'uid-7/web', Path: '/opt/web', NeedsSha256: OLD };

async function look(
  runs: readonly Partial<DetachedSummary>[],
  text = CONFIG,
  onRead: (path: string) => void = () => undefined,
) {
  const loaded = { ...parseConfig(text, { platform: 'linux' }), path: '/etc/config', found: true };
  const host: Pick<DoctorHost, 'detachedRuns' | 'digestOf'> = {
    detachedRuns: () => Promise.resolve(runs.map((run) => ({ ...RUN, ...run }))),
    digestOf: (path) => {
      onRead(path);
      return path === '/opt/gone' ? Promise.reject(new Error()) : Promise.resolve(NEW);
    },
  };
  const findings = await checkDetachedRuns.look(host as DoctorHost, loaded);
  return findings.map(({ level, found, advice }) => [`${level}: ${found}`, advice]);
}

describe('of detached runs the doctor says', () => {
  it('nothing where the config allows none', async () => {
    expect(await look([{ State: 'gaveUp' }], '')).toEqual([]);
  });

  it('that all is well of runs that live, ended, or were stopped by their client', async () => {
    const ended = { ...CLIENTS, NeedsSha256: '' };
    expect(await look([{}, { ...ended, State: 'ended' }, { ...ended, State: 'stopped' }])).toEqual([
      ['ok: 3 kept, all as they should be', undefined],
    ]);
  });

  it.each([
    [
      'is not started again',
      { State: 'gaveUp', GaveUp: 'it failed' },
      'problem: keep:one will not be started again: it failed',
      'see wins cli prc logs keep:one; "wins cli prc start keep:one" starts it',
    ],
    [
      'of a client is not started again',
      { ...CLIENTS, State: 'gaveUp', GaveUp: 'it failed' },
      'warning: uid-7/web will not be started again: it failed',
      'see wins cli prc logs uid-7/web; "wins cli prc start uid-7/web" starts it',
    ],
    [
      'of "keep" was stopped',
      { State: 'stopped' },
      'warning: keep:one was stopped, and stays so',
      '"wins cli prc start keep:one" starts it',
    ],
    [
      'cannot start yet',
      { State: 'waiting', Refused: 'it has no file' },
      'problem: keep:one cannot be started: it has no file',
      'mend the cause: the daemon tries again, or now by "wins cli prc start keep:one"',
    ],
    [
      'could not be started again, because its file was replaced',
      { ...CLIENTS },
      'warning: uid-7/web could not be started again: /opt/web has other bytes than its start needs',
      'restore the file, or have its client replace the run by the new program (prc run --detach --replace)',
    ],
    [
      'of "keep" could not be started again, because its entry pins another file',
      { Name: 'keep:pinned', Path: '/opt/pinned' },
      'warning: keep:pinned could not be started again: /opt/pinned has other bytes than its start needs',
      'put the digest of the file into sha256 of its entry, or restore the file',
    ],
  ])('which run %s', async (_what, run, found, advice) => {
    expect(await look([run])).toEqual([[found, advice]]);
  });

  it('the same of several runs of one program, whose file it reads once', async () => {
    const read: string[] = [];
    const runs = ['uid-7/a', 'uid-7/b'].map((Name) => ({ ...CLIENTS, Name }));
    expect(await look(runs, CONFIG, (path) => read.push(path))).toHaveLength(2);
    expect(read).toEqual(['/opt/web']);
  });

  it('nothing of a file that it cannot read', async () => {
    expect(await look([{ ...CLIENTS, Path: '/opt/gone' }])).toMatchObject([
      ['ok: 1 kept, all as they should be', undefined],
    ]);
  });
});
