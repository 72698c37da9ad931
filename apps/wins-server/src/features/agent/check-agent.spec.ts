import { parseConfig } from '@wins/config';
import type { PlanStatusResponse } from '@wins/wins-api/contract';
import { checkAgent } from './check-agent.js';
import { sourceMessage } from './plan-service.js';
import type { DoctorHost, FileJudgement } from '../../doctor/doctor-host.js';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const STATUS: PlanStatusResponse = {
  ...{ On: true, Reason: '', StrictTLS: true, LastContact: '2026-03-01T11:59:30Z' },
  Sources: [],
};
const REMOTE = 'systemagent: {remoteEnabled: true}';

type AgentHost = Pick<DoctorHost, 'judgeFolder' | 'reachSecret' | 'planStatus' | 'now'>;

async function look(changes: Partial<AgentHost> = {}, text = REMOTE) {
  const host: AgentHost = {
    judgeFolder: () => Promise.resolve({ kind: 'trusted' }),
    reachSecret: () => Promise.resolve('found'),
    planStatus: () => Promise.resolve(STATUS),
    now: () => NOW,
    ...changes,
  };
  const loaded = { ...parseConfig(text, { platform: 'linux' }), path: '/etc/config', found: true };
  const findings = await checkAgent.look(host as DoctorHost, loaded);
  return findings.map(({ level, found }) => `${level}: ${found}`);
}

describe('of the agent the doctor says', () => {
  it('nothing where it is off', async () => {
    expect(await look({}, '')).toEqual([]);
  });

  it('that all is well, how the API server is trusted, and when it last answered', async () => {
    expect(await look({}, `${REMOTE}\nagentStrictTLSMode: true`)).toEqual([
      'ok: /var/lib/rancher/agent/work can be used',
      'ok: /var/lib/rancher/agent/applied can be used',
      'ok: the API server answers, and the Secret can be read and written; its certificate must come from the authority in the connection info',
      'ok: last contact with the API server 30 s ago',
    ]);
  });

  it('that others can write to a folder', async () => {
    const others: FileJudgement = { kind: 'untrusted', message: 'others write there' };
    const judgeFolder = (folder: string) =>
      Promise.resolve(folder.endsWith('plans') ? others : ({ kind: 'missing' } as const));
    expect(await look({ judgeFolder }, 'systemagent: {localEnabled: true}')).toEqual([
      'ok: /var/lib/rancher/agent/work does not exist yet',
      'ok: /var/lib/rancher/agent/applied does not exist yet',
      'problem: others write there',
      'ok: last contact with the API server 30 s ago',
    ]);
  });

  it.each<[string, Partial<AgentHost>, string]>([
    [
      'that the API server cannot be asked',
      { reachSecret: () => Promise.reject(new Error('cannot read the Secret: 403')) },
      'problem: cannot read the Secret: 403',
    ],
    [
      'that there is no Secret',
      { reachSecret: () => Promise.resolve('missing') },
      'warning: the API server has no Secret for this node',
    ],
    [
      'that the daemon has it off',
      { planStatus: () => Promise.resolve({ ...STATUS, On: false, Reason: 'why not' }) },
      'problem: the daemon follows no plan: why not',
    ],
    [
      'that the API server has been silent for long',
      { now: () => NOW + 3_600_000 },
      'warning: last contact with the API server 3630 s ago',
    ],
  ])('%s', async (_what, changes, finding) => {
    expect(await look(changes)).toContain(finding);
  });

  it.each<[string, string, string, string]>([
    ['remote', 'applied', '', 'ok: remote: applied'],
    ['remote', 'failed', 'exit 3', 'warning: remote: failed: exit 3'],
    ['/plans/a.plan', 'starting', '', 'ok: /plans/a.plan: starting'],
    // These are problems even if the doctor itself reaches the API server.
    ['remote', 'starting', '', 'problem: remote: starting: the daemon has not read its Secret yet'],
    ['remote', 'disconnected', '500', 'problem: remote: disconnected: 500'],
    ['remote', 'unwritten', '401', 'problem: remote: unwritten: 401'],
  ])('where a plan stands: %s is %s, "%s"', async (Source, State, Problem, finding) => {
    const source = {
      ...{ Source, State, Problem, NextAt: '' },
      ...{ Checksum: '', AppliedChecksum: '', FailedChecksum: '', Failures: 1, LastApplyTime: '' },
      ...{ Probes: [], Periodic: [] },
    };
    const planStatus = () => Promise.resolve({ ...STATUS, Sources: [source] });
    expect(await look({ planStatus })).toContain(finding);
  });

  it('which instruction of a plan failed, with its exit code and last words', async () => {
    const failure = { instruction: 'install', exitCode: 3, stderrEnd: 'no room\n' };
    const source = sourceMessage({
      ...{ source: 'remote', failures: 1, probes: {}, periodic: {} },
      state: { kind: 'failed', checksum: 'c0ffee', failures: 1, failure },
    });
    const planStatus = () => Promise.resolve({ ...STATUS, Sources: [source] });
    expect(await look({ planStatus })).toContain(
      'warning: remote: failed: instruction "install" ended with 3: "no room", in try 1',
    );
  });

  it('that it cannot tell of plans when the daemon does not answer', async () => {
    const planStatus = () => Promise.reject(new Error('nobody is there'));
    expect((await look({ planStatus })).slice(3)).toEqual([
      'warning: cannot determine the state of the plans: nobody is there',
    ]);
  });
});
