import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { startProgram, type RunningProgram } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import {
  exampleManifests,
  parseYaml,
  stringifyYaml,
  wordsOfContainer,
} from '../testing/example-manifests.js';
import { wherePossible } from '../testing/where-possible.js';
import { ROOT, WINS, Workspace } from '../testing/workspace.js';

const EXPORTER = '/usr/bin/prometheus-node-exporter';
const PROMETHEUS = '/usr/bin/prometheus';
const UNSHARE = ['--net', '/bin/sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
const canRunPrometheus =
  [EXPORTER, PROMETHEUS, '/usr/bin/promtool', '/usr/bin/nsenter'].every((file) =>
    existsSync(file),
  ) && spawnSync('unshare', [...UNSHARE, '/bin/true'], { stdio: 'ignore' }).status === 0;

describe('the examples for Kubernetes', () => {
  let workspace: Workspace;
  let programs: RunningProgram[];
  beforeEach(() => {
    workspace = new Workspace();
    programs = [];
  });
  afterEach(async () => {
    for (const { child, outcome } of programs.reverse()) {
      child.kill('SIGTERM');
      await outcome;
    }
    workspace[Symbol.dispose]();
  });

  const start = (file: string, args: readonly string[]) => {
    const program = startProgram(file, args, workspace.environment);
    programs.push(program);
    return program;
  };
  const startIsolated = (...words: string[]) => start('unshare', [...UNSHARE, ...words]);
  const wins = (...words: string[]) => [process.execPath, WINS, ...words];

  it('mount the pipes for containers alone, as the chart does, and never that of administrators (A78)', () => {
    const mounted = ['examples/kubernetes', 'charts'].flatMap((folder) =>
      readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => /\.(ya?ml|tpl|json)$/.test(file))
        .map((file) => readFileSync(path.join(ROOT, folder, file), 'utf8'))
        .flatMap((text) => [...text.matchAll(/[\\/]pipe[\\/]+([\w%-]+)/g)])
        .map(([, name]) => name),
    );
    // `%s` is replaced by the chart's value `host.pipe`. Its default is the main pipe.
    expect([...new Set(mounted)].sort()).toEqual(['%s', 'rancher_wins', 'rancher_wins_proxy']);
  });

  it('have a pod that runs a program of the host, and ends as it ends', async () => {
    const tool = workspace.script('tools/collect.exe', 'echo "collected with $1"; exit 3');
    await using _daemon = await Daemon.start(workspace, workspace.config([tool]));
    const pod = exampleManifests('run-a-program.yaml');
    const words = wordsOfContainer(pod, 'collect', workspace.folder);
    const { code, stdout, stderr } = await start(process.execPath, [WINS, ...words]).outcome;
    expect([code, stdout.toString(), stderr]).toEqual([3, 'collected with --once\n', '']);
  });

  wherePossible(
    it,
    canRunPrometheus,
    'a real Prometheus that scrapes through the tunnel: it takes root and the packages prometheus and prometheus-node-exporter',
  )('have Prometheus scrape an exporter of the host through the tunnel', async () => {
    const manifests = exampleManifests('windows-exporter.yaml');
    const words = (name: string) => wordsOfContainer(manifests, name, workspace.folder);

    // The daemon and its runs get a network of their own, which imitates the node's network.
    mkdirSync(workspace.path('etc/windows-exporter'), { recursive: true });
    const exporter = workspace.path('etc/windows-exporter/windows-exporter.exe');
    copyFileSync(EXPORTER, exporter);
    chmodSync(exporter, 0o755);
    const entry = { path: exporter, args: [['--web.listen-address=127.0.0.1:9796']] };
    const config = workspace.config([], {
      white_list: { processPaths: [entry], proxyPorts: [9796] },
    });
    const node = startIsolated(...wins('srv', 'app', 'run', '--config', config));
    await node.said('"msg":"ready"');

    // The proxy's network imitates the pod. For simplicity, Prometheus runs there too; in a cluster, Prometheus runs outside the pod.
    start(process.execPath, [WINS, ...words('exporter')]);
    const proxy = startIsolated(...wins(...words('proxy')));
    await proxy.said('the tunnel is ready');
    const inPod = ['--net', '--target', String(proxy.child.pid)];

    const scrape = parseYaml(
      manifests.find(({ kind }) => kind === 'ConfigMap')?.data?.['prometheus.yml'] ?? '',
    ) as { scrape_configs: Record<string, unknown>[] };
    // Without a cluster, a fixed target replaces the discovery.
    const { kubernetes_sd_configs: discovery, ...job } = scrape.scrape_configs[0] ?? {};
    expect(discovery).toHaveLength(1);
    const found = {
      targets: ['127.0.0.1:9796'],
      labels: {
        __meta_kubernetes_pod_container_port_name: 'metrics',
        __meta_kubernetes_pod_node_name: 'node-7',
      },
    };
    const file = workspace.write(
      'prometheus.yml',
      stringifyYaml({
        global: { scrape_interval: '200ms', scrape_timeout: '200ms' },
        scrape_configs: [{ ...job, static_configs: [found] }],
      }),
    );
    const prometheus = start('nsenter', [
      ...inPod,
      PROMETHEUS,
      `--config.file=${file}`,
      `--storage.tsdb.path=${workspace.path('data')}`,
      '--web.listen-address=127.0.0.1:9090',
    ]);
    await prometheus.said('Server is ready to receive web requests');

    const query = ['promtool', 'query', 'instant', 'http://127.0.0.1:9090', 'up'];
    let answer = '';
    while (!answer.includes('=> 1 @')) {
      const { outcome } = startProgram('nsenter', [...inPod, ...query], process.env);
      answer = String((await outcome).stdout);
    }
    expect(answer).toMatch(/^up\{.*job="windows-exporter", node="node-7"\} => 1 @/);
  });
});
