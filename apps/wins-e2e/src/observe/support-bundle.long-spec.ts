import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { runWins } from '../testing/built-program.js';
import { PlanNode } from '../testing/agent/plan-node.js';

const CANARIES = {
  configEnvironment: 'canary-config-environment',
  csiQuery: 'canary-csi-query',
  csiArgument: 'canary-csi-argument',
  allowedArgument: 'canary-allowed-argument',
  planEnvironment: 'canary-plan-environment',
  planArgument: 'canary-plan-argument',
  planFile: 'canary-plan-file',
  kubeconfig: 'canary-kubeconfig-token',
  registries: 'canary-registries-password',
  proxy: 'canary-proxy-password',
  runArgument: 'canary-run-argument',
} as const;

interface Report {
  readonly members: readonly { readonly name: string; readonly isFailure: boolean }[];
}

describe('a bundle for support', () => {
  let node: PlanNode;
  let config: string;
  let environment: NodeJS.ProcessEnv;

  beforeAll(async () => {
    node = new PlanNode();
    const { workspace } = node;
    const tool = workspace.script('tool', 'exit 0');
    const kubeConfig = `{"users":[{"name":"u","user":{"token":"${CANARIES.kubeconfig}"}}]}`;
    const connection = { kubeConfig, namespace: 'fleet-default', secretName: 'plan' };
    const registries = `configs: {r: {auth: {username: u, password: ${CANARIES.registries}}}}`;
    node.localPlan('node.plan', {
      files: [{ path: workspace.path('etc', 'f'), content: btoa(CANARIES.planFile) }],
      instructions: [
        {
          name: 'greet',
          command: '/bin/sh',
          args: ['-c', 'exit 3', CANARIES.planArgument],
          env: [`WORD=${CANARIES.planEnvironment}`],
        },
      ],
    });
    node.config({
      localEnabled: true,
      remoteEnabled: true,
      connectionInfoFile: workspace.write('connection.json', JSON.stringify(connection)),
      agentRegistriesFile: workspace.write('registries.yaml', registries),
    });
    const { systemagent } = JSON.parse(readFileSync(workspace.path('config'), 'utf8')) as {
      systemagent: object;
    };
    config = workspace.config([{ path: tool, args: [[CANARIES.allowedArgument, '{integer}']] }], {
      systemagent,
      processEnvironment: { TOKEN: CANARIES.configEnvironment },
      'csi-proxy': {
        url: `https://host/csi-%s.tar.gz?signature=${CANARIES.csiQuery}`,
        version: 'v1.0.0',
        kubeletPath: '/kubelet',
        args: [`-token=${CANARIES.csiArgument}`],
      },
    });
    environment = {
      ...workspace.environment,
      HTTPS_PROXY: `http://user:${CANARIES.proxy}@127.0.0.1:9`,
    };
    const daemon = await node.start(config, '--debug');
    await daemon.logged(({ msg }) => msg === 'an instruction of a plan has ended');
    const words = ['cli', 'prc', 'run', '--path', tool, '--', CANARIES.runArgument];
    expect((await node.wins(...words)).code).toBe(126);
  });
  afterAll(() => node[Symbol.asyncDispose]());

  async function bundle(name: string, file = config) {
    const archive = node.workspace.path(name);
    const words = ['support-bundle', archive, '--config', file, '-o', 'json'];
    const { code, stdout, stderr } = await runWins(words, environment);
    expect([code, stderr]).toEqual([0, '']);
    const folder = node.workspace.path(`${name}.unpacked`);
    mkdirSync(folder);
    execFileSync('tar', ['-xzf', archive, '-C', folder]);
    const members = path.join(folder, 'wins-support');
    const textOf = (member: string) => readFileSync(path.join(members, member), 'utf8');
    return {
      archive,
      names: readdirSync(members).sort(),
      textOf,
      report: JSON.parse(String(stdout)) as Report,
    };
  }

  it('has every member, and none contains a secret (A87)', async () => {
    const { archive, names, textOf, report } = await bundle('bundle.tar.gz');
    expect(statSync(archive).mode & 0o777).toBe(0o600);
    expect(names).toEqual(
      expect.arrayContaining([
        'config.json',
        'doctor.json',
        'events.jsonl',
        'features.json',
        'members.json',
        'network.json',
        'pipes.json',
        'status.html',
        'versions.json',
        'log.jsonl.error.txt',
        'service.json.error.txt',
        'metrics.txt.error.txt',
      ]),
    );
    const failed = report.members.filter(({ isFailure }) => isFailure).map(({ name }) => name);
    const absent = ['log.jsonl', 'metrics.txt', 'service.json'];
    expect(failed).toEqual(absent.map((name) => `${name}.error.txt`));
    expect(textOf('metrics.txt.error.txt')).toContain('metrics');
    for (const name of names) {
      const found = Object.values(CANARIES).filter((canary) => textOf(name).includes(canary));
      expect([name, found]).toEqual([name, []]);
    }
    expect(textOf('events.jsonl')).toContain('"action":"planInstruction"');
    expect(textOf('features.json')).toContain('node.plan');
    expect(textOf('config.json')).toContain('"TOKEN"');
    expect(JSON.parse(textOf('doctor.json'))).toHaveProperty('findings');
    expect(textOf('status.html')).toMatch(/^<!doctype html>[^]*<\/html>\n$/);
  });

  it('is made even on a node with an invalid config, and gives the position of the mistake, not its text', async () => {
    const broken = node.workspace.write('broken', `listen: 7\nproxy: [${CANARIES.csiQuery}]\n`);
    const { names, textOf } = await bundle('broken.tar.gz', broken);
    expect(textOf('config.json.error.txt')).toMatch(/"line":2/);
    for (const name of names) expect(textOf(name)).not.toContain(CANARIES.csiQuery);
  });

  it('says in a line each why a part is missing', async () => {
    const file = node.workspace.path('why.tar.gz');
    const { stdout } = await runWins(['support-bundle', file, '--config', config], environment);
    expect(String(stdout).split('\n')).toEqual([
      expect.stringMatching(/^".*why\.tar\.gz": \d+ bytes, 11 members$/),
      '  without log.jsonl: cannot read the log: the daemon writes it to its standard error',
      expect.stringMatching(/^ {2}without metrics\.txt: metrics are disabled/),
      expect.stringMatching(/^ {2}without service\.json: .*this system has no Windows services$/),
      '',
    ]);
  });

  it('replaces no file', async () => {
    const file = node.workspace.write('taken', 'mine');
    const words = ['support-bundle', file, '--config', config];
    const { code, stderr } = await runWins(words, environment);
    expect([code, stderr]).toEqual([
      64,
      expect.stringContaining('a file of that name exists already'),
    ]);
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });
});
