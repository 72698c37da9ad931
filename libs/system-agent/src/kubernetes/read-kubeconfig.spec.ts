import { chmodSync, chownSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { posixFileTrust } from '@wins/trusted-files';
import { readKubeconfig } from './read-kubeconfig.js';

const kubeconfig = (user: string, server = 'https://cluster:6443'): string => `apiVersion: v1
kind: Config
current-context: b
contexts:
- name: a
  context: { cluster: none, user: none }
- name: b
  context: { cluster: here, user: wins, namespace: ignored }
clusters: [{ name: here, cluster: { server: "${server}" } }]
users:
- name: other
  user: { exec: { command: sh } }
- name: wins
  user: { ${user} }
`;
const GOOD = kubeconfig('token: canary');

describe('a kubeconfig in a file', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'kubeconfig-'));
    file = path.join(folder, 'nodes.yaml');
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const trust = posixFileTrust();
  const write = (text: string): void => writeFileSync(file, text, { mode: 0o600 });
  async function refusal(at = file): Promise<string> {
    const error: unknown = await readKubeconfig(at, trust).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'AgentError', code: 'invalidConnection' });
    const { message } = error as Error;
    expect(message).toMatch(/^cannot use the kubeconfig ".*nodes.*\.yaml": /);
    expect(message).not.toContain('canary');
    return message;
  }

  it('grants what its current context grants', async () => {
    write(`\ufeff${GOOD}`);
    expect(await readKubeconfig(file, trust)).toEqual({
      access: { server: new URL('https://cluster:6443'), token: 'canary' },
      warnings: [],
    });
  });

  it.each<[string, string, RegExp]>([
    ['a program', kubeconfig('exec: { command: /bin/sh }'), /the unsupported key "exec"/],
    ['a plugin', kubeconfig('auth-provider: { name: gcp }'), /unsupported key "auth-provider"/],
    [
      'a token in another file',
      kubeconfig('tokenFile: /etc/canary'),
      /unsupported key "tokenFile"/,
    ],
    [
      "the kubelet's certificate in another file",
      kubeconfig('client-certificate: /var/lib/kubelet.crt'),
      /found the unsupported key "client-certificate".*; wanted a kubeconfig that contains/,
    ],
    ['no context', GOOD.replace('current-context: b', ''), /"current-context" of the kubeconfig/],
    [
      'a context that is not there',
      GOOD.replace('current-context: b', 'current-context: z'),
      /"contexts"/,
    ],
    [
      'a server without TLS on another machine',
      kubeconfig('token: canary', 'http://cluster'),
      /an http:\/\/ address of another machine.* in clear text, in/,
    ],
    [
      'the connection info of the agent',
      JSON.stringify({ kubeConfig: GOOD, namespace: 'n', secretName: 's' }),
      /no string in "current-context"/,
    ],
    ['no text', '', /found no object/],
    ['too much of it', `${GOOD}${'#'.repeat(1_048_576)}`, /more than 1048576 bytes/],
  ])('is refused with %s', async (_what, text, message) => {
    write(text);
    expect(await refusal()).toMatch(message);
  });

  it('is refused where it is missing, or where others could have written it', async () => {
    expect(await refusal()).toMatch(/: there is no such file or folder$/);
    write(GOOD);
    const link = path.join(folder, 'nodes-link.yaml');
    symlinkSync(file, link);
    expect(await refusal(link)).toMatch(/symbolic link/);
    chmodSync(file, 0o666);
    expect(await refusal()).toMatch(/writ/);
    if (process.geteuid?.() !== 0) return;
    chmodSync(file, 0o600);
    chownSync(file, 12_345, 12_345);
    expect(await refusal()).toMatch(/belongs to/);
  });
});
