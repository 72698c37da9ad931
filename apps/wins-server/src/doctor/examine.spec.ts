import type { AuditVerdict } from '@wins/audit-log';
import { ConfigError, parseConfig, type LoadedConfig } from '@wins/config';
import { PipeError } from '@wins/pipe-transport';
import type { RecoveredProcess } from '@wins/process-manager';
import type { LatestUpgrade } from '../upgrade/upgrader.js';
import type { AuditFolder, DoctorProbe, FileJudgement } from './doctor-probe.js';
import { examine } from './examine.js';
import type { Finding } from './finding.js';
import { exitCodeOf, jsonReport, textReport } from './report.js';

const WINS = { Checksum: 'c0ffee', Version: 'v1.2.3', Commit: 'abc' };
const CONFIG = JSON.stringify({
  listen: 'main',
  proxy: 'tunnel',
  white_list: { processPaths: ['/opt/tool'], proxyPorts: [9796] },
});

const FOLDER: AuditFolder = {
  ...{ path: '/var/audit', place: { kind: 'trusted' }, faults: [], freeBytes: 2 ** 30 },
};
const VERDICT: AuditVerdict = {
  ...{ ok: true, records: 3, lost: 0, unfinishedBytes: 0, problems: [], problemCount: 0 },
};

function loaded(text = CONFIG): LoadedConfig {
  return { ...parseConfig(text, { platform: 'linux' }), path: '/etc/config', found: true };
}

/** A host on which all is well, but for what is told here. */
function host(changes: Partial<DoctorProbe> = {}): DoctorProbe {
  return {
    versions: () => Promise.resolve({ wins: WINS, node: '22.1.0', system: 'Linux 6.1' }),
    loadConfig: () => Promise.resolve(loaded()),
    doubtfulEntries: () => Promise.resolve([]),
    judgeFile: () => Promise.resolve({ kind: 'trusted' }),
    judgeWatchedFile: () => Promise.resolve({ kind: 'trusted' }),
    auditFolder: () => Promise.resolve(FOLDER),
    verifyAudit: () => Promise.resolve(VERDICT),
    latestUpgrade: () => Promise.resolve(undefined),
    faultyEntries: () => [],
    reachPipe: () => Promise.resolve(),
    pipeAccess: () => Promise.resolve({ found: 'mode 600, user 0', faults: [] }),
    daemonInfo: () => Promise.resolve(WINS),
    orphans: () => Promise.resolve([]),
    ...changes,
  };
}

const unwell = (findings: readonly Finding[]) => findings.filter(({ level }) => level !== 'ok');
const judged = (judgement: FileJudgement) => ({
  judgeFile: (path: string) =>
    Promise.resolve<FileJudgement>(path === '/opt/tool' ? judgement : { kind: 'trusted' }),
});
const orphan: RecoveredProcess = { pid: 4711, evidence: 'marker', path: '/opt/tool' };

describe('the doctor', () => {
  it('finds nothing where all is well, and says what it looked at', async () => {
    const findings = await examine(host(), []);
    expect(unwell(findings)).toEqual([]);
    expect(new Set(findings.map(({ check }) => check))).toEqual(
      new Set(['versions', 'config', 'pipe', 'daemon', 'whitelist', 'orphans', 'audit']),
    );
    expect(exitCodeOf(findings)).toBe(0);
  });

  it.each<[string, Partial<DoctorProbe>, Finding['level'], string, RegExp]>([
    [
      'a config that is wrong',
      {
        loadConfig: () =>
          Promise.reject(
            new ConfigError('insecure', [
              {
                severity: 'error',
                code: 'insecure',
                file: '/etc/config',
                keyPath: '',
                found: 'x',
                expected: 'y',
                message: '/etc/config: others may write it',
              },
            ]),
          ),
      },
      'problem',
      'config',
      /others may write it/,
    ],
    [
      'no config',
      { loadConfig: () => Promise.resolve({ ...loaded(''), found: false }) },
      'warning',
      'config',
      /no \/etc\/config/,
    ],
    [
      'a doubtful key',
      { loadConfig: () => Promise.resolve(loaded(`${CONFIG.slice(0, -1)}, "nonsense": 1}`)) },
      'warning',
      'config',
      /nonsense/,
    ],
    [
      'a config that others could replace',
      {
        judgeFile: (path) =>
          Promise.resolve(
            path === '/etc/config'
              ? { kind: 'untrusted', rule: 'A7 writable by other users', message: '' }
              : { kind: 'trusted' },
          ),
      },
      'warning',
      'config',
      /A7 writable/,
    ],
    [
      'an empty whitelist',
      { loadConfig: () => Promise.resolve(loaded('white_list: {proxyPorts: [1]}')) },
      'warning',
      'whitelist',
      /no program/,
    ],
    [
      'a program that is not there',
      judged({ kind: 'missing' }),
      'warning',
      'whitelist',
      /\/opt\/tool does not exist/,
    ],
    [
      'a program that others could replace',
      judged({ kind: 'untrusted', rule: '', message: 'cannot run "/opt/tool": A7' }),
      'problem',
      'whitelist',
      /A7/,
    ],
    [
      'an entry that allows much',
      {
        doubtfulEntries: () => Promise.resolve([{ message: 'entry 1 may be given any arguments' }]),
      },
      'warning',
      'whitelist',
      /entry 1/,
    ],
    [
      'an entry that allows nothing',
      { faultyEntries: () => [{ index: 0, message: 'entry 1 is no path' }] },
      'problem',
      'whitelist',
      /entry 1/,
    ],
    [
      'a daemon that is down',
      {
        reachPipe: (name) =>
          name === 'main'
            ? Promise.reject(new PipeError('notFound', 'nobody serves main'))
            : Promise.resolve(),
      },
      'problem',
      'pipe',
      /nobody serves main/,
    ],
    [
      'a tunnel that is down',
      {
        reachPipe: (name) =>
          name === 'tunnel'
            ? Promise.reject(new PipeError('notFound', 'nobody serves tunnel'))
            : Promise.resolve(),
      },
      'problem',
      'pipe',
      /nobody serves tunnel/,
    ],
    [
      'a pipe that is not ours to open',
      {
        reachPipe: (name) =>
          name === 'main'
            ? Promise.reject(new PipeError('accessDenied', 'may not open main'))
            : Promise.resolve(),
      },
      'warning',
      'pipe',
      /may not open/,
    ],
    [
      'a pipe that others may open',
      {
        pipeAccess: (name) =>
          Promise.resolve({
            found: 'mode 666',
            faults: name === 'tunnel' ? ['others may open it'] : [],
          }),
      },
      'problem',
      'pipe',
      /tunnel[^]*others may open it/,
    ],
    [
      'a daemon that does not answer',
      { daemonInfo: () => Promise.reject(new Error('too slow')) },
      'problem',
      'daemon',
      /too slow/,
    ],
    [
      'a daemon of another release',
      { daemonInfo: () => Promise.resolve({ ...WINS, Version: 'v1.0.0' }) },
      'warning',
      'daemon',
      /v1\.0\.0[^]*v1\.2\.3/,
    ],
    [
      'a daemon of another build',
      { daemonInfo: () => Promise.resolve({ ...WINS, Commit: 'def' }) },
      'warning',
      'daemon',
      /def/,
    ],
    [
      'a daemon of another file',
      { daemonInfo: () => Promise.resolve({ ...WINS, Checksum: 'bad' }) },
      'warning',
      'daemon',
      /file differs/,
    ],
    [
      'a process without a daemon',
      { orphans: () => Promise.resolve([orphan]) },
      'problem',
      'orphans',
      /4711[^]*\/opt\/tool/,
    ],
    [
      'an audit log that others may read',
      { auditFolder: () => Promise.resolve({ ...FOLDER, faults: ['it has mode 755'] }) },
      'problem',
      'audit',
      /\/var\/audit: it has mode 755/,
    ],
    [
      'an audit log that others could replace',
      {
        auditFolder: () =>
          Promise.resolve({
            ...FOLDER,
            place: { kind: 'untrusted', rule: 'A7 writable by other users', message: '' },
          }),
      },
      'problem',
      'audit',
      /A7 writable/,
    ],
    [
      'a disk without room for the audit log',
      { auditFolder: () => Promise.resolve({ ...FOLDER, freeBytes: 3 * 2 ** 20 }) },
      'warning',
      'audit',
      /3 MiB left/,
    ],
    [
      'an audit log that was changed',
      {
        verifyAudit: () =>
          Promise.resolve({
            ...{ ...VERDICT, ok: false, problemCount: 2 },
            problems: [{ file: 'audit.00000001.jsonl', line: 7, what: 'the line is no record' }],
          }),
      },
      'problem',
      'audit',
      /audit\.00000001\.jsonl: the line is no record \(and 1 more\)/,
    ],
    [
      'an audit log that lost records',
      { verifyAudit: () => Promise.resolve({ ...VERDICT, lost: 9 }) },
      'warning',
      'audit',
      /9 records were lost/,
    ],
    [
      'an old Node',
      { versions: () => Promise.resolve({ wins: WINS, node: '20.18.3', system: '' }) },
      'problem',
      'versions',
      /20\.18\.3/,
    ],
    [
      'what it may not look at',
      { orphans: () => Promise.reject(new Error('EACCES')) },
      'warning',
      'orphans',
      /cannot tell: EACCES/,
    ],
  ])('finds %s, and says what to do', async (_what, changes, level, check, text) => {
    const [finding, ...others] = unwell(await examine(host(changes), []));
    expect(finding).toMatchObject({ level, check, found: expect.stringMatching(text) as string });
    expect(finding?.advice).toMatch(/./);
    // Without a config no program is listed either.
    expect(others.filter(({ found }) => found !== 'no program may run')).toEqual([]);
    expect(exitCodeOf([finding as Finding])).toBe(level === 'problem' ? 2 : 1);
  });

  it('asks the rest when the config is wrong, and does not ask a daemon that is down', async () => {
    const asked: string[] = [];
    const findings = await examine(
      host({
        loadConfig: () => Promise.reject(new Error('gone')),
        reachPipe: (name) => {
          asked.push(name);
          return Promise.reject(new PipeError('notFound', `nobody serves ${name}`));
        },
        daemonInfo: () => Promise.reject(new Error('must not be asked')),
      }),
      [],
    );
    expect(asked).toEqual(['rancher_wins', 'rancher_wins_proxy']);
    expect(findings.filter(({ level }) => level === 'problem')).toHaveLength(3);
  });

  const watching = (changes: Partial<DoctorProbe> = {}, watchingPath = '/opt/wins') => {
    const config = {
      ...(JSON.parse(CONFIG) as object),
      upgrade: { mode: 'watching', watchingPath },
    };
    return host({ loadConfig: () => Promise.resolve(loaded(JSON.stringify(config))), ...changes });
  };
  const latest = (outcome: LatestUpgrade['outcome']) => ({
    latestUpgrade: () =>
      Promise.resolve({ id: 'x', outcome, reason: 'why', to: { version: 'v2', sha256: '' } }),
  });

  it.each<[string, DoctorProbe, Finding['level'], RegExp]>([
    ['is trusted', watching(), 'ok', /\/opt\/wins is watched/],
    [
      'is not there',
      watching({ judgeWatchedFile: () => Promise.resolve({ kind: 'missing' }) }),
      ...(['ok', /does not exist/] as const),
    ],
    [
      'others may write',
      watching({
        judgeWatchedFile: () => Promise.resolve({ kind: 'untrusted', rule: 'A7', message: 'open' }),
      }),
      ...(['problem', /open/] as const),
    ],
    ['has no absolute path', watching({}, 'wins'), 'problem', /wins is no absolute path/],
    ['was upgraded to', watching(latest('upgraded')), 'ok', /to v2: upgraded: why/],
    ['was taken back', watching(latest('rolledBack')), 'warning', /to v2: rolledBack: why/],
    ['was refused', watching(latest('refused')), 'warning', /to v2: refused: why/],
    ['failed', watching(latest('failed')), 'problem', /to v2: failed: why/],
  ])('says of a watched file that it %s', async (_what, probe, level, found) => {
    const findings = (await examine(probe, [])).filter(({ check }) => check === 'upgrade');
    expect(findings.at(-1)).toMatchObject({ level, found: expect.stringMatching(found) as string });
  });

  it('asks what only this system has', async () => {
    const look = () => Promise.reject(new Error('no such service'));
    const findings = await examine(host(), [{ name: 'service', look }]);
    expect(unwell(findings)).toMatchObject([{ check: 'service', level: 'warning' }]);
  });
});

describe('the report of the doctor', () => {
  const FINDINGS: Finding[] = [
    { check: 'config', level: 'ok', found: 'fine' },
    { check: 'pipe', level: 'problem', found: 'evil \u001b[2J\nname', advice: 'mend it' },
  ];

  it('has a line for each finding and steers no terminal', () => {
    expect(textReport(FINDINGS)).toBe(
      'ok       config  fine\n' +
        'problem  pipe    evil \\u001b[2J\\u000aname\n' +
        '                 → mend it\n' +
        '\n' +
        '1 problem, 0 warnings\n',
    );
    expect(textReport(FINDINGS.slice(0, 1))).toMatch(/\nall is well\n$/);
  });

  it('is JSON for programs', () => {
    expect(JSON.parse(jsonReport(FINDINGS))).toEqual({ healthy: false, findings: FINDINGS });
    expect(JSON.parse(jsonReport(FINDINGS.slice(0, 1)))).toMatchObject({ healthy: true });
  });
});
