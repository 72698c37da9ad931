import { parseConfig } from '@wins/config';
import { PipeError } from '@wins/pipe-transport';
import type { Run } from '@wins/wins-api/contract';
import type { DoctorHost } from '../../kernel/doctor-host.js';
import {
  checkDetachedRuns,
  checkLivingRuns,
  type DetachedQuestions,
} from './check-detached-runs.js';

const [OLD, NEW] = ['a'.repeat(64), 'b'.repeat(64)];
const CONFIG = `keep: [{ path: /opt/one }, { path: /opt/pinned, sha256: ${OLD} }]`;
const RUN: Run = {
  name: 'keep:one',
  process: 'rancher-wins-one',
  lifetime: 'detached',
  state: 'running',
  path: '/opt/one',
  pid: 7,
  startedAtMs: 0,
  sha256: '',
  exposes: [],
  restarts: 0,
};
const CLIENTS = { name: 'uid-7/web', path: '/opt/web', needsSha256: OLD };

async function look(
  runs: readonly Partial<Run>[],
  text = CONFIG,
  onRead: (path: string) => void = () => undefined,
) {
  const loaded = { ...parseConfig(text, { platform: 'linux' }), path: '/etc/config', found: true };
  const host: Pick<DoctorHost & DetachedQuestions, 'detachedRuns' | 'digestOf'> = {
    detachedRuns: () => Promise.resolve(runs.map((run) => ({ ...RUN, ...run }))),
    digestOf: (path) => {
      onRead(path);
      return path === '/opt/gone' ? Promise.reject(new Error()) : Promise.resolve(NEW);
    },
  };
  const findings = await checkDetachedRuns.look(host as DoctorHost & DetachedQuestions, loaded);
  return findings.map(({ level, found, advice }) => [`${level}: ${found}`, advice]);
}

async function lookWithoutDaemon(...runs: readonly string[]) {
  const loaded = { ...parseConfig('', { platform: 'linux' }), path: '/etc/config', found: true };
  const host: Pick<DoctorHost & DetachedQuestions, 'reachPipe' | 'livingRuns'> = {
    reachPipe: () => Promise.reject(new PipeError('notFound', 'nobody serves it')),
    livingRuns: () => Promise.resolve(runs),
  };
  const findings = await checkLivingRuns.look(host as DoctorHost & DetachedQuestions, loaded);
  return findings.map(({ level, found }) => `${level}: ${found}`);
}

describe('of detached runs the doctor says', () => {
  it('nothing where the config allows none', async () => {
    expect(await look([{ state: 'gaveUp' }], '')).toEqual([]);
  });

  it('nothing of runs that need no file again, or that the daemon reports', async () => {
    const ended = { ...CLIENTS, needsSha256: undefined };
    const reported = [
      { ...CLIENTS, state: 'gaveUp' },
      { ...CLIENTS, state: 'stopped' },
      { ...CLIENTS, refused: 'it has no file' },
    ];
    expect(await look([{}, { ...ended, state: 'ended' }, ...reported])).toEqual([]);
  });

  it.each([
    [
      'could not be started again, because its file was replaced',
      { ...CLIENTS },
      'warning: uid-7/web could not be started again: /opt/web has other bytes than its start needs',
      'restore the file, or have its client replace the run: wins cli prc run --detach --replace --name web --path /opt/web',
    ],
    [
      'could not be started again, at a path with a space',
      { ...CLIENTS, path: '/opt/my web' },
      'warning: uid-7/web could not be started again: /opt/my web has other bytes than its start needs',
      'restore the file, or have its client replace the run: wins cli prc run --detach --replace --name web --path "/opt/my web"',
    ],
    [
      'of "keep" could not be started again, because its entry pins another file',
      { name: 'keep:pinned', path: '/opt/pinned' },
      'warning: keep:pinned could not be started again: /opt/pinned has other bytes than its start needs',
      'put the digest of the file into sha256 of its entry, or restore the file',
    ],
  ])('which run %s', async (_what, run, found, advice) => {
    expect(await look([run])).toEqual([[found, advice]]);
  });

  it('the same of several runs of one program, whose file it reads once', async () => {
    const read: string[] = [];
    const runs = ['uid-7/a', 'uid-7/b'].map((name) => ({ ...CLIENTS, name }));
    expect(await look(runs, CONFIG, (path) => read.push(path))).toHaveLength(2);
    expect(read).toEqual(['/opt/web']);
  });

  it('nothing of a file that it cannot read', async () => {
    expect(await look([{ ...CLIENTS, path: '/opt/gone' }])).toEqual([]);
  });

  it('which of them live on without a daemon, the first five by name', async () => {
    expect(await lookWithoutDaemon()).toEqual([]);
    expect(await lookWithoutDaemon('web')).toEqual(['ok: they live on without the daemon: web']);
    const six = ['a', 'b', 'c', 'd', 'e', 'f'];
    expect(await lookWithoutDaemon(...six)).toEqual([
      'ok: they live on without the daemon: a, b, c, d, e, …',
    ]);
  });
});
