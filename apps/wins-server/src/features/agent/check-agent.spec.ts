import { parseConfig } from '@wins/config';
import { checkAgent, type AgentQuestions } from './check-agent.js';
import type { DoctorHost, FileJudgement } from '../../kernel/doctor-host.js';

const REMOTE = 'systemagent: {remoteEnabled: true}';

type AgentHost = Pick<DoctorHost & AgentQuestions, 'judgeFolder' | 'reachSecret'>;

async function look(changes: Partial<AgentHost> = {}, text = REMOTE) {
  const host: AgentHost = {
    judgeFolder: () => Promise.resolve({ kind: 'trusted' }),
    reachSecret: () => Promise.resolve('found'),
    ...changes,
  };
  const loaded = { ...parseConfig(text, { platform: 'linux' }), path: '/etc/config', found: true };
  const findings = await checkAgent.look(host as DoctorHost & AgentQuestions, loaded);
  return findings.map(({ level, found }) => `${level}: ${found}`);
}

describe('of the agent the doctor says', () => {
  it('nothing where it is off', async () => {
    expect(await look({}, '')).toEqual([]);
  });

  it('that all is well, and how the API server is trusted', async () => {
    expect(await look({}, `${REMOTE}\nagentStrictTLSMode: true`)).toEqual([
      'ok: /var/lib/rancher/agent/work can be used',
      'ok: /var/lib/rancher/agent/applied can be used',
      'ok: the API server answers, and the Secret can be read and written; its certificate must come from the authority in the connection info',
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
  ])('%s', async (_what, changes, finding) => {
    expect(await look(changes)).toContain(finding);
  });
});
