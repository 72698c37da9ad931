import type { AuditVerdict } from '../kernel/audit/verify-audit-log.js';
import { posixFileTrust } from '@wins/trusted-files';
import { ConfigError, parseConfig, type LoadedConfig } from '@wins/config';
import { PipeError } from '@wins/pipe-transport';
import { DaemonCallError } from '../client/daemon-call-error.js';
import { ProcessError, type ProcessErrorCode, type ProcessRule } from '@wins/process-manager';
import { FEATURES } from '../features/features.js';
import { judgeConfig } from '../configuration/judge-config.js';
import { problem, reportOf, warning, type Condition } from '../kernel/conditions/condition.js';
import type { UpgradeResult } from '@wins/service-upgrade';
import type {
  AuditFolder,
  Check,
  DaemonStatus,
  DoctorHost,
  FileJudgement,
} from '../kernel/doctor-host.js';
import {
  checkDetachedRuns,
  checkLivingRuns,
  type DetachedQuestions,
} from '../features/detached/check-detached-runs.js';
import {
  checkOrphans,
  checkWhiteList,
  type RunQuestions,
} from '../features/runs/check-white-list.js';
import { checkPorts } from '../features/tunnel/check-ports.js';
import { checkUpgrade, type UpgradeQuestions } from '../features/upgrade/check-upgrade.js';
import { examine } from './examine.js';
import { exitCodeForFindings, reportValue, textReport } from '../kernel/conditions/report.js';

const WINS = { checksum: 'c0ffee', version: 'v1.2.3', commit: 'abc' };
const STATUS: DaemonStatus = {
  configFile: '/etc/config',
  startedAtMs: 0,
  pid: 7,
  programFingerprint: 'the file that it started from',
  conditions: [],
};
const CONFIG = {
  listen: 'main',
  proxy: 'tunnel',
  white_list: { processPaths: ['/opt/tool'], proxyPorts: [9796] },
};
const TRUSTED: FileJudgement = { kind: 'trusted' };
const OTHERS_WRITE: FileJudgement = {
  kind: 'untrusted',
  message: 'cannot take it: others may write it',
};
const AUDIT_FOLDER: AuditFolder = {
  path: '/var/audit',
  judgement: TRUSTED,
  faults: [],
};
const AUDIT_VERDICT: AuditVerdict = {
  ok: true,
  records: 3,
  lost: 0,
  unfinishedBytes: 0,
  problems: [],
  problemCount: 0,
};

const gives =
  <T>(value: T) =>
  () =>
    Promise.resolve(value);
const fails = (error: Error) => () => Promise.reject(error);

async function loaded(config: unknown = CONFIG, tellsClientsApart = true): Promise<LoadedConfig> {
  const text = JSON.stringify(config);
  const parsed = { ...parseConfig(text, { platform: 'linux' }), path: '/etc/config', found: true };
  const host = {
    trust: posixFileTrust(),
    tellsClientsApart: () => tellsClientsApart,
    pipeAccessFault: () => undefined,
  };
  return judgeConfig(parsed, { platform: 'linux', isStrict: false, host }, FEATURES);
}

/** Dated later than the host's clock, so the event counts as recent. */
const event = (seq: number, type: string) => ({ seq, type, time: '2026-01-01T00:00:00.000Z' });

const unreachable = (pipe: string, error: PipeError) => (name: string) =>
  name === pipe ? Promise.reject(error) : Promise.resolve();
const refused = (code: ProcessErrorCode, rule?: ProcessRule) =>
  gives({
    isPinned: false,
    refusal: new ProcessError(code, OTHERS_WRITE.message, rule && { rule }),
  });

type Host = DoctorHost & RunQuestions & UpgradeQuestions & DetachedQuestions;
const CHECKS = [
  checkWhiteList,
  checkOrphans,
  checkDetachedRuns,
  checkLivingRuns,
  checkPorts,
  checkUpgrade,
] satisfies Check<Host>[];

function host(changes: Partial<Host> = {}): Host {
  return {
    versions: () => ({ wins: WINS, node: '22.1.0', system: 'Linux 6.1' }),
    programFingerprint: () => 'another file',
    programChecksum: gives(WINS.checksum),
    configFile: '/etc/config',
    loadConfig: () => loaded(),
    loadKeptConfig: gives(undefined),
    judgeFolder: gives(TRUSTED),
    judgeWatchedFile: gives(TRUSTED),
    auditFolder: gives(AUDIT_FOLDER),
    verifyAudit: gives(AUDIT_VERDICT),
    latestUpgrade: gives(undefined),
    upgradeUnderWay: gives(undefined),
    judgeStart: gives({ isPinned: false }),
    detachedRuns: gives([]),
    digestOf: gives(''),
    freeBytes: gives(2 ** 30),
    events: gives([]),
    recentEvents: gives([]),
    descriptors: gives(undefined),
    dial: gives('open'),
    dialAt: gives('open'),
    reachPipe: gives(undefined),
    pipeAccess: gives({ found: 'mode 600, user 0', faults: [] }),
    daemonInfo: gives(WINS),
    daemonStatus: gives(STATUS),
    livingRuns: gives([]),
    call: fails(new Error('must not be asked')),
    featureFacts: fails(new Error('must not be asked')),
    processes: () => {
      throw new Error('must not be asked');
    },
    fileTrust: () => posixFileTrust(),
    now: () => 0,
    logLocation: '/var/log/wins',
    orphans: gives([]),
    systemChecks: [],
    ...changes,
  };
}

const examined = async (changes: Partial<Host> = {}) =>
  reportOf(await examine(host(changes), [{ doctor: CHECKS }]));
const notOk = (findings: readonly Condition[]) => findings.filter(({ level }) => level !== 'ok');

interface Case {
  readonly what: string;
  readonly changes: Partial<Host>;
  readonly check: string;
  readonly found: RegExp;
}

const PROBLEMS: readonly Case[] = [
  {
    what: 'an old Node',
    changes: { versions: () => ({ wins: WINS, node: '20.18.3', system: '' }) },
    check: 'versions',
    found: /20\.18\.3/,
  },
  {
    what: 'a config that is wrong',
    changes: {
      loadConfig: fails(
        new ConfigError('insecure', [
          {
            severity: 'error',
            nextStep: 'mend it',
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
    check: 'config',
    found: /others may write it/,
  },
  {
    what: 'a program that others could replace',
    changes: { judgeStart: refused('pathNotTrusted', 'A7 writable by other users') },
    check: 'whitelist',
    found: /others may write it/,
  },
  {
    what: 'an entry that allows nothing',
    changes: { loadConfig: () => loaded({ white_list: { processPaths: ['/opt/tool/'] } }) },
    check: 'whitelist',
    found: /processPaths\[0\]: .*names a folder/,
  },
  {
    what: 'a daemon that is down',
    changes: { reachPipe: unreachable('main', new PipeError('notFound', 'nobody serves main')) },
    check: 'daemon',
    found: /nobody serves main/,
  },
  {
    what: 'a tunnel that is down',
    changes: { reachPipe: unreachable('tunnel', new PipeError('notFound', 'nobody serves it')) },
    check: 'pipe',
    found: /nobody serves it/,
  },
  {
    what: 'a pipe that others may open',
    changes: {
      pipeAccess: (name) =>
        Promise.resolve({ found: 'mode 666', faults: name === 'tunnel' ? ['others may'] : [] }),
    },
    check: 'pipe',
    found: /tunnel[^]*others may/,
  },
  {
    what: 'a pipe of administrators that others may open, whom the config allows on the other pipes',
    changes: {
      loadConfig: () =>
        loaded({ ...CONFIG, pipeAccess: 'D:P(A;;GA;;;SY)(A;;0x12019b;;;S-1-5-21-1-2-3-1001)' }),
      pipeAccess: (_name, wanted) =>
        Promise.resolve({ found: '', faults: wanted === undefined ? ['users may use it'] : [] }),
    },
    check: 'pipe',
    found: /^main_admin .*users may use it/,
  },
  {
    what: 'something else that serves the pipe of administrators',
    changes: {
      reachPipe: unreachable('main_admin', new PipeError('securityUnavailable', 'not trusted')),
    },
    check: 'pipe',
    found: /not trusted/,
  },
  {
    what: 'a daemon that does not answer',
    changes: { daemonInfo: fails(new Error('too slow')) },
    check: 'daemon',
    found: /too slow/,
  },
  {
    what: 'a process without a daemon',
    changes: { orphans: gives([{ pid: 4711, evidence: 'marker', path: '/opt/tool' }]) },
    check: 'orphans',
    found: /4711[^]*\/opt\/tool/,
  },
  {
    what: 'an audit log that others may read',
    changes: { auditFolder: gives({ ...AUDIT_FOLDER, faults: ['it has mode 755'] }) },
    check: 'audit',
    found: /\/var\/audit: it has mode 755/,
  },
  {
    what: 'an audit log that others could replace',
    changes: { auditFolder: gives({ ...AUDIT_FOLDER, judgement: OTHERS_WRITE }) },
    check: 'audit',
    found: /others may write it/,
  },
  {
    what: 'an audit log that was changed',
    changes: {
      verifyAudit: gives({
        ...AUDIT_VERDICT,
        ok: false,
        problemCount: 2,
        problems: [{ file: 'audit.00000001.jsonl', line: 7, what: 'the line is not a record' }],
      }),
    },
    check: 'audit',
    found: /audit\.00000001\.jsonl: the line is not a record \(and 1 more\)/,
  },
];

const WARNINGS: readonly Case[] = [
  {
    what: 'no config',
    changes: { loadConfig: async () => ({ ...(await loaded({})), found: false }) },
    check: 'config',
    found: /no \/etc\/config/,
  },
  {
    what: 'a doubtful key',
    changes: { loadConfig: () => loaded({ ...CONFIG, nonsense: 1 }) },
    check: 'config',
    found: /nonsense/,
  },
  {
    what: 'an empty whitelist',
    changes: { loadConfig: () => loaded({ white_list: { proxyPorts: [1] } }) },
    check: 'whitelist',
    found: /no program/,
  },
  {
    what: 'a program that is not there',
    changes: { judgeStart: refused('notFound') },
    check: 'whitelist',
    found: /\/opt\/tool does not exist/,
  },
  {
    what: 'an entry that allows much',
    changes: { loadConfig: () => loaded({ white_list: { processPaths: ['/bin/sh'] } }) },
    check: 'whitelist',
    found: /processPaths\[0\]: .*it may get any/,
  },
  {
    what: 'a key of an entry in another spelling',
    changes: {
      loadConfig: () =>
        loaded({ white_list: { processPaths: [{ path: '/opt/tool', SHA256: ['a'.repeat(64)] }] } }),
    },
    check: 'whitelist',
    found: /processPaths\[0\]\.sha256: found "SHA256"/,
  },
  {
    what: 'an entry for clients that this system does not know',
    changes: {
      loadConfig: () =>
        loaded(
          { white_list: { processPaths: [{ path: '/opt/tool', for: ['administrators'] }] } },
          false,
        ),
    },
    check: 'whitelist',
    found: /cannot identify callers/,
  },
  {
    what: 'a pipe that this user may not open',
    changes: { reachPipe: unreachable('main', new PipeError('accessDenied', 'may not open it')) },
    check: 'pipe',
    found: /may not open it/,
  },
  {
    what: 'a daemon without a pipe of administrators',
    changes: { reachPipe: unreachable('main_admin', new PipeError('notFound', 'none')) },
    check: 'pipe',
    found: /no pipe main_admin: its release is older, or it could not open the pipe/,
  },
  {
    what: 'a daemon that does not tell its state',
    changes: {
      daemonStatus: fails(
        new DaemonCallError('it refuses', 77, { nextStep: 'run this elsewhere' }),
      ),
    },
    check: 'daemon',
    found: /^cannot determine its state: it refuses$/,
  },
  {
    what: 'a daemon of another release',
    changes: { daemonInfo: gives({ ...WINS, version: 'v1.0.0' }) },
    check: 'daemon',
    found: /v1\.0\.0[^]*v1\.2\.3/,
  },
  {
    what: 'a daemon of another build',
    changes: { daemonInfo: gives({ ...WINS, commit: 'def' }) },
    check: 'daemon',
    found: /def/,
  },
  {
    what: 'a daemon of another file',
    changes: { daemonInfo: gives({ ...WINS, checksum: 'bad' }) },
    check: 'daemon',
    found: /from a different file/,
  },
  {
    what: 'a disk that is nearly full',
    changes: {
      freeBytes: (folder) => Promise.resolve(folder.includes('audit') ? 3 * 2 ** 20 : 2 ** 30),
    },
    check: 'disk',
    found: /its disk has 3 MiB free/,
  },
  {
    what: 'a port on which nothing listens',
    changes: { dial: gives('refused' as const) },
    check: 'port',
    found: /nothing listens on port 9796/,
  },
  {
    what: 'a program whose port hangs',
    changes: { dial: gives('silent' as const) },
    check: 'port',
    found: /9796 did not accept/,
  },
  {
    what: 'a program whose port answered nothing',
    changes: { recentEvents: gives([{ ...event(1, 'connectSlow'), port: 9796 }]) },
    check: 'port',
    found: /sent nothing for 15 s/,
  },
  {
    what: 'a daemon that ended without an order',
    changes: { recentEvents: gives([event(1, 'started'), event(2, 'started')]) },
    check: 'history',
    found: /ended unexpectedly once/,
  },
  {
    what: 'a daemon with few descriptors left',
    changes: {
      recentEvents: gives([{ ...event(1, 'started'), pid: 7 }]),
      descriptors: gives({ open: 60, most: 70 }),
    },
    check: 'descriptors',
    found: /60 of 70/,
  },
  {
    what: 'a daemon with few descriptors left that started before all recent events',
    changes: { descriptors: (pid) => gives(pid === 7 ? { open: 60, most: 70 } : undefined)() },
    check: 'descriptors',
    found: /60 of 70/,
  },
  {
    what: 'an upgrade that was interrupted',
    changes: { upgradeUnderWay: gives('stopping') },
    check: 'upgrade',
    found: /in phase stopping/,
  },
  {
    what: 'an audit log that lost records',
    changes: { verifyAudit: gives({ ...AUDIT_VERDICT, lost: 9 }) },
    check: 'audit',
    found: /reports 9 lost records/,
  },
  {
    what: 'a check that this user may not make',
    changes: { orphans: fails(new Error('EACCES')) },
    check: 'orphans',
    found: /cannot determine: EACCES/,
  },
  {
    what: 'a check of this system that fails',
    changes: { systemChecks: [{ name: 'service', look: fails(new Error('no such service')) }] },
    check: 'service',
    found: /no such service/,
  },
];

describe('the doctor', () => {
  it('finds nothing where all is well, and says what it looked at', async () => {
    const findings = await examined();
    expect(notOk(findings)).toEqual([]);
    expect(new Set(findings.map(({ check }) => check))).toEqual(
      new Set([
        'versions',
        'config',
        'pipe',
        'daemon',
        'whitelist',
        'orphans',
        'audit',
        'disk',
        'history',
        'port',
        'refusals',
      ]),
    );
    expect(exitCodeForFindings(findings)).toBe(0);
  });

  async function onlyFinding(changes: Partial<Host>): Promise<Condition> {
    const [finding, ...others] = notOk(await examined(changes));
    // Without a config file no program may run, which the doctor also reports.
    expect(others.filter(({ found }) => found !== 'no program may run')).toEqual([]);
    expect(finding?.advice).toMatch(/./);
    // Each command works as printed: for this config, and on the pipe of its daemon.
    for (const command of finding?.advice?.match(/\bwins (?!up)[a-z][^"',;()]*/g) ?? [])
      expect(command).toMatch(command.startsWith('wins cli') ? / --server / : / --config /);
    return finding as Condition;
  }

  it.each(PROBLEMS)('calls $what a problem, and says what to do', async (one) => {
    const finding = await onlyFinding(one.changes);
    expect(finding).toMatchObject({ level: 'problem', check: one.check });
    expect(finding.found).toMatch(one.found);
    expect(exitCodeForFindings([finding])).toBe(2);
  });

  it.each(WARNINGS)('warns of $what, and says what to do', async (one) => {
    const finding = await onlyFinding(one.changes);
    expect(finding).toMatchObject({ level: 'warning', check: one.check });
    expect(finding.found).toMatch(one.found);
    expect(exitCodeForFindings([finding])).toBe(1);
  });

  it('asks the rest when the config is wrong, and does not ask a daemon that is down', async () => {
    const asked: string[] = [];
    const findings = await examined({
      loadConfig: fails(new Error('gone')),
      reachPipe: (name) => {
        asked.push(name);
        return Promise.reject(new PipeError('notFound', `nobody serves ${name}`));
      },
      daemonInfo: fails(new Error('must not be asked')),
      daemonStatus: fails(new Error('nobody is there')),
    });
    expect(asked).toEqual(
      expect.arrayContaining(['rancher_wins', 'rancher_wins_proxy', 'rancher_wins_admin']),
    );
    // One cause is reported once: the other pipes are gone because the daemon is.
    expect(findings.filter(({ level }) => level === 'problem').map(({ code }) => code)).toEqual([
      'daemonDown',
      'configInvalid',
    ]);
    // If no config can be loaded, the doctor skips the whitelist check. It does not check the default config instead.
    expect(findings.some(({ check }) => check === 'whitelist')).toBe(false);
  });

  it('tells once of a config that cannot be used', async () => {
    const loadConfig = () => loaded({ ...CONFIG, listen: 'a/b' });
    const findings = notOk(await examined({ loadConfig }));
    expect(findings).toMatchObject([{ check: 'config', level: 'problem' }]);
  });

  it('names each fault of a config, however many there are', async () => {
    const proxyPorts = Array.from({ length: 25 }, (_, index) => 70_000 + index);
    const loadConfig = () => loaded({ ...CONFIG, white_list: { proxyPorts } });
    const findings = notOk(await examined({ loadConfig }));
    expect(findings.map(({ found }) => /7\d{4}/.exec(found)?.[0])).toEqual(proxyPorts.map(String));
  });

  it.each([
    ['invalidName', /"listen"/],
    ['timeout', /restart/],
    ['notFound', /^start the daemon/],
    ['securityUnavailable', /which program serves/],
  ] as const)('advises what helps for a pipe that cannot be reached: %s', async (code, advice) => {
    const reachPipe = unreachable('main', new PipeError(code, 'no'));
    expect((await onlyFinding({ reachPipe })).advice).toMatch(advice);
  });

  it('advises no start of a daemon that serves, although its tunnel has another pipe than the config', async () => {
    const reachPipe = unreachable('tunnel', new PipeError('notFound', 'no'));
    expect((await onlyFinding({ reachPipe })).advice).toBe('restart the daemon, and see its log');
  });

  it('advises to list what a link leads to, and names the log of a daemon that is silent', async () => {
    const judgeStart = refused('pathNotTrusted', 'A7 symbolic link');
    const linked = await onlyFinding({ judgeStart });
    expect(linked.advice).toMatch(/target of the link/);
    const silent = await onlyFinding({
      daemonInfo: fails(new Error('it gave no answer within 5 s')),
    });
    expect(silent.advice).toContain('/var/log/wins');
  });

  it('says when the daemon has another config than the one that was looked at', async () => {
    const finding = await onlyFinding({
      daemonStatus: gives({ ...STATUS, configFile: '/opt/other' }),
    });
    expect(finding).toMatchObject({ level: 'warning', check: 'daemon' });
    expect(finding.found).toMatch(/\/opt\/other; this command checked \/etc\/config/);
    expect(finding.advice).toBe('wins doctor --config /opt/other');
  });

  it('does not read the program, of 100 MB, when the daemon started from this very file', async () => {
    const same = await examined({
      programFingerprint: () => STATUS.programFingerprint,
      programChecksum: fails(new Error('must not be read')),
    });
    expect(notOk(same)).toEqual([]);
    expect(same).toContainEqual(
      expect.objectContaining({ found: 'the daemon is v1.2.3 (abc), like this program' }),
    );
  });

  it('repeats the conditions of the daemon although it cannot read its own program', async () => {
    const [condition] = [problem('upgrade', 'upgradeStuck', 'it is stuck', 'look')];
    const findings = await examined({
      programChecksum: fails(new Error('it may not be read')),
      daemonStatus: gives({ ...STATUS, conditions: [condition] }),
    });
    expect(notOk(findings).map(({ code }) => code)).toEqual(['cannotTell', 'upgradeStuck']);
  });

  it('takes programs that neither it nor the daemon can find for the same only by their checksums', async () => {
    const programFingerprint = 'gone';
    const findings = await examined({
      programFingerprint: () => programFingerprint,
      programChecksum: gives('bad'),
      daemonStatus: gives({ ...STATUS, programFingerprint }),
    });
    expect(notOk(findings)).toMatchObject([{ code: 'otherRelease' }]);
  });

  it('names the config and the pipe in each command that it advises, also in those of the daemon', async () => {
    const conditions = [
      problem(
        'detached',
        'runGaveUp',
        'x',
        'see wins cli prc logs x; "wins cli prc start x" starts it',
      ),
      problem('plan', 'planFailed', 'y', 'see wins srv plan status, and the log'),
    ];
    const findings = notOk(await examined({ daemonStatus: gives({ ...STATUS, conditions }) }));
    expect(findings.map(({ advice }) => advice)).toEqual([
      'see wins cli prc logs x --server main; "wins cli prc start x --server main" starts it',
      'see wins srv plan status --config /etc/config, and the log',
    ]);
  });

  it('warns of a section csi-proxy that is wrong, which keeps no daemon from starting', async () => {
    const content = { url: 'https://h/%d', version: 'v1.1.3', kubeletPath: '/k' };
    const loadConfig = () => loaded({ ...CONFIG, 'csi-proxy': content });
    const [finding] = notOk(await examined({ loadConfig }));
    expect(finding).toMatchObject({ level: 'warning', check: 'config' });
    expect(finding?.found).toContain('csi-proxy.url: found "%d" at column 11');
  });
});

describe('of a watched file the doctor says', () => {
  async function lastFinding(
    changes: Partial<Host>,
    watchingPath = '/opt/wins',
  ): Promise<Condition | undefined> {
    const config = { ...CONFIG, upgrade: { mode: 'watching', watchingPath } };
    const findings = await examined({ loadConfig: () => loaded(config), ...changes });
    return findings.filter(({ check }) => check === 'upgrade').at(-1);
  }

  it('that it is watched', async () => {
    const finding = await lastFinding({});
    expect(finding).toMatchObject({ level: 'ok' });
    expect(finding?.found).toMatch(/^\/opt\/wins is watched/);
  });

  it('that it does not exist', async () => {
    const finding = await lastFinding({
      judgeWatchedFile: gives<FileJudgement>({ kind: 'missing' }),
    });
    expect(finding).toMatchObject({ level: 'ok' });
    expect(finding?.found).toMatch(/does not exist/);
  });

  it('that others may write it', async () => {
    const finding = await lastFinding({ judgeWatchedFile: gives(OTHERS_WRITE) });
    expect(finding).toMatchObject({ level: 'problem', found: OTHERS_WRITE.message });
  });

  it.each<{ outcome: UpgradeResult['outcome']; level: Condition['level'] }>([
    { outcome: 'upgraded', level: 'ok' },
    { outcome: 'rolledBack', level: 'warning' },
    { outcome: 'refused', level: 'warning' },
    { outcome: 'failed', level: 'problem' },
  ])('that the latest upgrade ended as $outcome: $level', async ({ outcome, level }) => {
    const to = { version: 'v2', sha256: '' };
    const latestUpgrade = gives({ id: 'x', outcome, reason: 'why', to });
    const finding = await lastFinding({ latestUpgrade });
    expect(finding).toMatchObject({ level, found: `the latest upgrade to v2: ${outcome}: why` });
  });

  it('that one was refused to who typed it, who was told', async () => {
    const latestUpgrade = gives<UpgradeResult>({ id: 'x', outcome: 'refused', reason: 'why' });
    const findings = await examined({ latestUpgrade });
    const finding = findings.find(({ check }) => check === 'upgrade');
    expect(finding).toMatchObject({ level: 'ok', found: 'the latest upgrade: refused: why' });
  });
});

describe('the report of the doctor', () => {
  const FINDINGS: Condition[] = [
    { check: 'config', level: 'ok', found: 'fine' },
    problem('pipe', 'pipeLost', 'evil \u001b[2J\nname', 'fix it'),
  ];

  it('has a line for each finding and steers no terminal', () => {
    expect(textReport(FINDINGS)).toBe(
      'ok       config  fine\n' +
        'problem  pipe    evil \\u001b[2J\\u000aname\n' +
        '                 → fix it\n' +
        '\n' +
        '1 problem, 0 warnings\n',
    );
    expect(textReport(FINDINGS.slice(0, 1))).toMatch(/\nall is well\n$/);
  });

  it('is JSON for programs', () => {
    expect(reportValue(FINDINGS)).toEqual({ healthy: false, findings: FINDINGS });
    expect(reportValue(FINDINGS.slice(0, 1))).toMatchObject({ healthy: true });
  });
});

describe('of a daemon', () => {
  it('the doctor says since when it serves, also if it is older than its events', async () => {
    const [, , ...more] = await examined({ now: () => 3 * 86_400_000 });
    const serves = more.find(({ check }) => check === 'daemon');
    expect(serves?.found).toBe('serves v1.2.3 for 3d (process 7)');
    const untold = await examined({ daemonStatus: fails(new Error('no administrator')) });
    expect(untold.find(({ check }) => check === 'daemon')?.found).toBe('serves v1.2.3');
  });

  it('the doctor repeats the conditions, and leaves out those that it sees the cause of', async () => {
    const rejected = problem('config in force', 'configRejected', 'the previous config', 'fix it', {
      causes: ['configInvalid'],
    });
    const silent = warning('plan', 'planServerSilent', 'it is silent', 'look');
    const daemonStatus = gives({ ...STATUS, conditions: [rejected, silent] });
    expect(notOk(await examined({ daemonStatus })).map(({ code }) => code)).toEqual([
      'configRejected',
      'planServerSilent',
    ]);
    const loadConfig = fails(new Error('line 3 is wrong'));
    expect(notOk(await examined({ daemonStatus, loadConfig })).map(({ code }) => code)).toEqual([
      'planServerSilent',
      'configInvalid',
    ]);
  });

  it('that was killed the doctor says so, and which runs live on without it', async () => {
    const findings = await examined({
      reachPipe: fails(new PipeError('notFound', 'nobody serves it')),
      daemonStatus: fails(new Error('nobody is there')),
      recentEvents: gives([event(1, 'started'), event(2, 'runStarted')]),
      livingRuns: gives(['web']),
    });
    expect(notOk(findings).map(({ code }) => code)).toEqual(['daemonDown', 'daemonKilled']);
    expect(findings).toContainEqual({
      check: 'detached runs',
      level: 'ok',
      found: 'they live on without the daemon: web',
    });
    const afterDays = await examined({
      reachPipe: fails(new PipeError('notFound', 'nobody serves it')),
      daemonStatus: fails(new Error('nobody is there')),
      recentEvents: gives([event(2, 'runStarted')]),
    });
    expect(notOk(afterDays).map(({ code }) => code)).toEqual(['daemonDown', 'daemonKilled']);
    const stopped = await examined({
      reachPipe: fails(new PipeError('notFound', 'nobody serves it')),
      daemonStatus: fails(new Error('nobody is there')),
      recentEvents: gives([event(1, 'started'), event(2, 'stopping')]),
    });
    expect(notOk(stopped).map(({ code }) => code)).toEqual(['daemonDown']);
    const busy = await examined({
      reachPipe: fails(new PipeError('busy', 'it has too many connections')),
      daemonStatus: fails(new Error('it was not asked')),
      recentEvents: gives([event(1, 'started')]),
      livingRuns: fails(new Error('must not be asked')),
    });
    expect(new Set(notOk(busy).map(({ code }) => code))).toEqual(new Set(['pipeUnreachable']));
  });

  it('that has just started, its first events are not those of a daemon before', async () => {
    const at = (type: string, ms: number) => ({ seq: ms, type, time: new Date(ms).toISOString() });
    const started = { ...at('started', 1000), ageMs: 500 };
    const first = [at('runStarted', 600), started];
    expect(notOk(await examined({ recentEvents: gives(first) }))).toEqual([]);
    const second = [at('runStarted', 400), ...first];
    expect(notOk(await examined({ recentEvents: gives(second) })).map(({ code }) => code)).toEqual([
      'daemonRestarted',
    ]);
  });

  it('whose clock was set back, its starts of the future are no recent ones', async () => {
    const nowMs = 86_400_000;
    const startsAt = (firstMs: number) =>
      Array.from({ length: 8 }, (_, seq) => ({
        seq,
        type: seq % 2 === 0 ? 'started' : 'stopping',
        time: new Date(firstMs + seq).toISOString(),
      }));
    const codes = async (firstMs: number) => {
      const recentEvents = gives(startsAt(firstMs));
      return notOk(await examined({ now: () => nowMs, recentEvents })).map(({ code }) => code);
    };
    expect(await codes(nowMs - 1000)).toEqual(['daemonCrashLoop']);
    expect(await codes(nowMs + 1000)).toEqual([]);
  });

  it('that is gone, its own metrics port is no finding of its own', async () => {
    const config = { ...CONFIG, metrics: { listen: '127.0.0.1:9796' } };
    const gone = {
      loadConfig: () => loaded(config),
      dial: gives('refused' as const),
      daemonStatus: fails(new Error('nobody is there')),
    };
    const reachPipe = fails(new PipeError('notFound', 'nobody serves it'));
    expect(notOk(await examined({ ...gone, reachPipe })).map(({ code }) => code)).toEqual([
      'daemonDown',
    ]);
  });
});
