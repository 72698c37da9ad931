import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { startProgram, startWins, type RunningProgram } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { mayMakeContainer, startInContainer } from '../testing/other-container.js';
import { base64, PlanNode, wellComponent } from '../testing/agent/plan-node.js';
import {
  growth,
  growthBy,
  parseScrape,
  scrape,
  scrapeUntil,
  unusual,
  type Scrape,
} from '../testing/scrape.js';
import { freePorts, HostProgram, Tunnel } from '../testing/tunnel/tunnel.js';
import { wherePossible } from '../testing/where-possible.js';
import { WINS, Workspace } from '../testing/workspace.js';

const PROMETHEUS = '/usr/bin/prometheus';
const PROMTOOL = '/usr/bin/promtool';

describe('the metrics of a daemon', () => {
  const workspace = new Workspace();
  let daemon: Daemon;
  let address: string;
  let echo: HostProgram;
  let config: (more?: object) => string;
  let tunnelPorts: readonly number[];
  let unlistedPort: number;
  let silentPort: number;

  const tools = {
    ends: workspace.script('ends.exe', 'echo 12345; echo 123 >&2; exit "$1"'),
    dies: workspace.script('dies.exe', 'kill -9 $$'),
    stays: workspace.script('stays.exe', 'echo up; exec sleep 1000'),
    broken: workspace.write('broken.exe', '#!/\n', 0o755),
  };
  const start = (...words: string[]): RunningProgram => startWins(words, workspace.environment);
  const run = (tool: string, ...args: string[]): RunningProgram =>
    start('cli', 'prc', 'run', '--path', tool, ...args);
  const dial = async (port: number, text = ''): Promise<string> => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    const answer: Buffer[] = [];
    socket.on('data', (bytes: Buffer) => answer.push(bytes));
    if (text !== '') socket.write(text);
    socket.end();
    await new Promise((resolve) => socket.once('close', resolve));
    return Buffer.concat(answer).toString();
  };

  beforeAll(async () => {
    echo = await HostProgram.tcp((socket) => socket.pipe(socket));
    const ports = await freePorts(7);
    const [metricsPort = 0, unlisted = 0, silent = 0, ...rest] = ports;
    [unlistedPort, silentPort, tunnelPorts] = [unlisted, silent, rest];
    address = `127.0.0.1:${metricsPort}`;
    config = (more = {}) =>
      workspace.config([], {
        metrics: { listen: address },
        white_list: {
          processPaths: Object.values(tools),
          proxyPorts: [echo.port, silent, metricsPort],
        },
        ...more,
      });
    daemon = await Daemon.start(workspace, config());
    await daemon.logged(({ msg }) => msg === 'metrics are served');
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    await echo[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  const causes = (cause: () => Promise<unknown>, expected: Readonly<Record<string, number>>) =>
    growthBy(address, cause, expected);

  it('move when a call is made, and nothing else does', async () => {
    const call = { 'wins_calls_total{method="wins.ApplicationService/Info",code="OK"}': 1 };
    const connection = {
      'wins_connections_total{pipe="main",outcome="opened"}': 1,
      'wins_connections_total{pipe="main",outcome="closed"}': 1,
    };
    const expected = { ...call, ...connection };
    const before = await scrape(address);
    const grown = await causes(() => start('cli', 'app', 'info').outcome, expected);
    const { process_cpu_seconds_total: _cpu, ...rest } = grown;
    expect(rest).toEqual(expected);
    const after = await scrape(address);
    const count = 'wins_call_duration_seconds_count{method="wins.ApplicationService/Info"}';
    expect((after.get(count) ?? 0) - (before.get(count) ?? 0)).toBe(1);
  });

  const ran = (entry: string, how: string, reason = 'exited') => ({
    [`wins_run_starts_total{entry="${entry}",result="started"}`]: 1,
    [`wins_run_ends_total{entry="${entry}",reason="${reason}"}`]: 1,
    [`wins_run_exit_codes_total{entry="${entry}",class="${how}"}`]: 1,
  });
  const wrote = (entry: string, out: number, err: number) => ({
    [`wins_run_output_bytes_total{entry="${entry}",stream="stdout"}`]: out,
    [`wins_run_output_bytes_total{entry="${entry}",stream="stderr"}`]: err,
  });
  const refused = (action: string, rule: string) => ({
    [`wins_refusals_total{action="${action}",rule="${rule}"}`]: 1,
  });
  const connects = (result: string) => ({ [`wins_tunnel_connects_total{result="${result}"}`]: 1 });
  const sessions = { 'wins_tunnel_sessions_total{reason="peer-closed"}': 1 };
  const moved = (bytes: number) => ({
    'wins_tunnel_bytes_total{direction="in"}': bytes,
    'wins_tunnel_bytes_total{direction="out"}': bytes,
  });
  const reloaded = (result: string) => ({ [`wins_config_reloads_total{result="${result}"}`]: 1 });
  const throughTunnel = async (index: number, to: number, text?: string): Promise<void> => {
    const from = tunnelPorts[index] ?? 0;
    await using tunnel = await Tunnel.start(workspace, `TCP:${from}:${to}`);
    expect(await dial(from, text)).toBe(text ?? '');
    await tunnel.stop();
  };
  // Reload by command, because the daemon notices a changed file only after a delay.
  const reload = () =>
    start('srv', 'config', 'reload', '--config', workspace.path('config')).outcome;

  it.each<[string, () => Promise<unknown>, Readonly<Record<string, number>>]>([
    [
      'a run that ends with 0',
      () => run(tools.ends, '--args', '0').outcome,
      { ...ran('ends.exe', 'zero'), ...wrote('ends.exe', 6, 4) },
    ],
    [
      'a run that ends with 3',
      () => run(tools.ends, '--args', '3').outcome,
      { ...ran('ends.exe', 'nonzero'), ...wrote('ends.exe', 6, 4) },
    ],
    ['a run that a signal ends', () => run(tools.dies).outcome, ran('dies.exe', 'signal')],
    [
      'a program that the system does not start',
      () => run(tools.broken).outcome,
      { 'wins_run_starts_total{entry="broken.exe",result="failed"}': 1 },
    ],
    [
      'a program that is not listed',
      () => run('/bin/true').outcome,
      {
        ...refused('start', 'not listed'),
        'wins_run_starts_total{entry="other",result="refused"}': 1,
      },
    ],
    [
      'a stream to a listed port',
      () => throughTunnel(0, echo.port, 'hello'),
      { ...connects('connected'), ...sessions, ...moved(5) },
    ],
    [
      'a stream to a port that is not listed',
      () => throughTunnel(1, unlistedPort),
      { ...connects('refused'), ...sessions, ...refused('connect', 'port-not-listed') },
    ],
    [
      'a stream to a port where nobody listens',
      () => throughTunnel(2, silentPort),
      { ...connects('failed'), ...sessions },
    ],
    ['a config that is read again as it is', reload, reloaded('unchanged')],
    [
      'a config that changes',
      () => {
        config({ debug: true });
        return daemon.logged(({ msg }) => msg === 'config changed');
      },
      reloaded('applied'),
    ],
  ])('move by exactly what belongs to %s', async (_name, cause, expected) => {
    expect(unusual(await causes(cause, expected))).toEqual(expected);
  });

  it('move when a config is rejected', async () => {
    const cause = async (): Promise<void> => {
      workspace.write('config', 'white_list: 7');
      await daemon.logged(({ msg }) => msg.startsWith('config rejected'));
      config();
    };
    expect(await causes(cause, reloaded('rejected'))).toMatchObject(reloaded('rejected'));
    expect((await reload()).code).toBe(0);
    expect((await scrape(address)).get('wins_config_age_seconds')).toBeLessThan(60);
  });

  it('show current activity and its end', async () => {
    const from = tunnelPorts[3] ?? 0;
    const running = run(tools.stays);
    await running.printed('up');
    const tunnel = await Tunnel.start(workspace, `TCP:${from}:${echo.port}`);
    const socket = connect(from, '127.0.0.1');
    const states = (runs: number, others: number) => (now: Scrape) =>
      now.get('wins_runs{state="running"}') === runs &&
      ['wins_tunnel_sessions', 'wins_tunnel_streams', 'wins_connections{pipe="tunnel"}'].every(
        (name) => now.get(name) === others,
      );
    const now = await scrapeUntil(address, states(1, 1));
    expect(now.get('wins_connections{pipe="main"}')).toBeGreaterThanOrEqual(1);
    await scrapeUntil(
      address,
      (later) => (later.get('wins_run_memory_bytes{entry="stays.exe"}') ?? 0) > 0,
    );
    socket.destroy();
    running.child.kill('SIGTERM');
    await running.outcome;
    await tunnel.stop();
    const after = await scrapeUntil(address, states(0, 0));
    expect(after.get('wins_run_memory_bytes{entry="stays.exe"}')).toBeUndefined();
    expect(Object.keys(growth(now, after))).toContain(
      'wins_run_ends_total{entry="stays.exe",reason="leaseEnded"}',
    );
  });

  it('are printed by srv metrics for an administrator', async () => {
    const before = await scrape(address);
    const { code, stdout, stderr } = await start('srv', 'metrics', '--config', config()).outcome;
    expect([code, stderr]).toEqual([0, '']);
    const told = parseScrape(String(stdout));
    const opened = 'wins_connections_total{pipe="admin",outcome="opened"}';
    expect(told.get(opened)).toBe((before.get(opened) ?? 0) + 1);
    const others = [...(await scrape(address)).keys()].filter((name) => !name.includes('Scrape'));
    expect([...told.keys()].sort()).toEqual(others.sort());
  });

  wherePossible(
    it,
    existsSync(PROMTOOL),
    'metrics that promtool checks: it takes the package prometheus',
  )('of srv metrics pass promtool check metrics without a word', async () => {
    const { stdout: input } = await start('srv', 'metrics', '--config', config()).outcome;
    const { status, output } = spawnSync(PROMTOOL, ['check', 'metrics'], {
      input,
      encoding: 'utf8',
    });
    expect([status, output.join('')]).toEqual([0, '']);
  });

  wherePossible(
    it,
    mayMakeContainer(),
    'metrics that a container asks for: it takes a mount namespace',
  )('are not shown to a container over the pipe (A94)', async () => {
    const words = [WINS, 'srv', 'metrics', '--config', config()];
    const { code, stdout } = await startInContainer(words, workspace.environment).outcome;
    expect([code, String(stdout)]).toEqual([77, '']);
  });

  wherePossible(
    it,
    existsSync(PROMETHEUS),
    'a real Prometheus that scrapes a daemon: it takes the package prometheus',
  )(
    'are scraped by a real Prometheus, and through the tunnel when their port is listed (A94)',
    async () => {
      const [tunnelled = 0, web = 0, denied = 0] = await freePorts(3);
      const metricsPort = Number(address.split(':')[1]);
      await using _tunnel = await Tunnel.start(workspace, `TCP:${tunnelled}:${metricsPort}`);
      const targets = [address, `127.0.0.1:${tunnelled}`];
      const file = workspace.write(
        'prometheus.yml',
        JSON.stringify({
          global: { scrape_interval: '200ms', scrape_timeout: '200ms' },
          scrape_configs: [{ job_name: 'wins', static_configs: [{ targets }] }],
        }),
      );
      const prometheus = startProgram(
        PROMETHEUS,
        [
          `--config.file=${file}`,
          `--storage.tsdb.path=${workspace.path('data')}`,
          `--web.listen-address=127.0.0.1:${web}`,
        ],
        workspace.environment,
      );
      await prometheus.said('Server is ready to receive web requests');
      const query = async (expression: string): Promise<readonly string[]> => {
        const url = `http://127.0.0.1:${web}/api/v1/query?query=${encodeURIComponent(expression)}`;
        const { data } = (await (await fetch(url)).json()) as {
          data: { result: readonly { value: [number, string] }[] };
        };
        return data.result.map(({ value: [, value] }) => value);
      };
      let up: readonly string[] = [];
      while (up.length < 2 || up.some((value) => value !== '1')) up = await query('up');
      const names = await query('count(count by (__name__) ({__name__=~"wins_.+"}))');
      expect(Number(names[0])).toBeGreaterThan(25);
      const quantile = 'histogram_quantile(0.9, sum by (le) (wins_call_duration_seconds_bucket))';
      expect(Number((await query(quantile))[0])).toBeGreaterThan(0);
      prometheus.child.kill('SIGTERM');
      await prometheus.outcome;

      // A reload takes `metricsPort` off the whitelist, so the next tunnel cannot reach it.
      const rest = { processPaths: [], proxyPorts: [echo.port] };
      const asked = start('srv', 'config', 'reload', '--config', config({ white_list: rest }));
      expect((await asked.outcome).code).toBe(0);
      await using _other = await Tunnel.start(workspace, `TCP:${denied}:${metricsPort}`);
      await expect(fetch(`http://127.0.0.1:${denied}/metrics`)).rejects.toThrow('fetch failed');
    },
  );
});

describe('the metrics of a node that follows plans', () => {
  it('tell passes and probes', async () => {
    await using node = new PlanNode();
    await using component = await wellComponent();
    const [port = 0] = await freePorts(1);
    const address = `127.0.0.1:${port}`;
    node.localPlan('good.plan', {
      files: [{ path: node.workspace.path('etc', 'x'), content: base64('x'), uid: -1, gid: -1 }],
      probes: {
        well: { httpGet: { url: component.url } },
        gone: { httpGet: { url: 'http://127.0.0.1:1/healthz' } },
      },
    });
    node.localPlan('bad.plan', { instructions: [{ name: 'no', command: '/bin/false' }] });
    const config = node.config({ localEnabled: true }, [], { metrics: { listen: address } });
    const daemon = await node.start(config);
    await daemon.logged(({ msg }) => msg === 'metrics are served');
    const now = await scrapeUntil(
      address,
      (told) =>
        told.get('wins_plan_applies_total{result="applied"}') === 1 &&
        (told.get('wins_plan_applies_total{result="failed"}') ?? 0) >= 1 &&
        told.get('wins_plan_probe_healthy{probe="well"}') === 1 &&
        told.get('wins_plan_probe_healthy{probe="gone"}') === 0,
    );
    expect(now.has('wins_plan_last_contact_seconds')).toBe(false);
  });
});
