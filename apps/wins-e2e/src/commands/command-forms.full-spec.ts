import { readYaml } from '@wins/net';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { commandValues } from '../testing/commands/command-json.js';
import { freePorts } from '../testing/tunnel/tunnel.js';
import type { RunningProgram } from '../testing/built-program.js';
import { ROOT, type Workspace } from '../testing/workspace.js';
import { PackagedHost } from './packaged-host.js';

interface Way {
  /** Options and words after the command. `file` is a new path for each form. */
  readonly words: (host: PackagedHost, file: string) => readonly string[];
  /** Default: 0. */
  readonly code?: number;
  /** Whether there is something to name. Default: yes. */
  readonly isNamed?: false;
  /** Only with `-o json`, because the command changes something or takes long. */
  readonly isOnce?: true;
  /** The command has no answer here, in any form. */
  readonly isMute?: true;
  /** The command may not run twice at a time. */
  readonly isAlone?: true;
  /** The command prints answers until it is ended. */
  readonly isEndless?: true;
}

interface Answered {
  readonly code: number | null;
  readonly printed: string;
}

const DETACHED = 'web';
const STOPPED = 'stopped';
const none = (): string[] => [];
const onPipe = ({ server }: PackagedHost) => ['--server', server];
const withConfig = ({ config }: PackagedHost) => ['--config', config];
const asked: Way = { words: withConfig };
const unnamed: Way = { ...asked, isNamed: false };
/** This system has no node that can be installed. */
const refusedNode: Way = { words: () => ['--dry-run'], code: 65 };
const recording: Way = {
  words: (host, file) => [file, '--seconds', '0.1', ...withConfig(host)],
  isAlone: true,
};
const plan = (host: PackagedHost): string => path.join(path.dirname(host.config), 'plans/one.plan');

const WAYS: Readonly<Record<string, readonly Way[]>> = {
  'cli app info': [{ words: onPipe }],
  'cli prc ls': [
    { words: onPipe },
    { words: (host) => ['--detached', ...onPipe(host)] },
    { words: (host) => ['--watch', ...onPipe(host)], isEndless: true },
  ],
  'cli prc stats': [{ words: onPipe }],
  'cli prc top': [{ words: onPipe, isEndless: true }],
  'cli prc stop': [{ words: (host) => [STOPPED, ...onPipe(host)], isOnce: true }],
  'cli prc inspect': [{ words: (host) => [DETACHED, ...onPipe(host)] }],
  'cli explain': [
    { words: (host) => ['--path', host.tool, ...onPipe(host)] },
    { words: (host) => ['--port', '1', ...onPipe(host)], code: 126, isNamed: false },
  ],
  'cli upgrade': [
    { words: (host) => ['--path', host.upgrader, ...onPipe(host)], code: 126, isAlone: true },
  ],
  'cli deliver': [{ words: (host) => ['--from', host.config, '--to', `${host.config}.delivered`] }],
  'cli hst get-version': [{ words: onPipe }],
  'cli net get': [{ words: (host) => ['--name', 'lo', ...onPipe(host)] }],
  'cli hns get-network': [
    { words: (host) => ['--name', 'none', ...onPipe(host)], code: 125, isMute: true },
  ],
  'cli route ls': [{ words: onPipe }],
  'srv config check': [
    asked,
    { words: ({ brokenConfig }) => ['--config', brokenConfig], code: 78, isNamed: false },
  ],
  'srv config schema': [{ words: none, isOnce: true }],
  'srv config explain': [
    { words: () => ['proxyPorts'] },
    { words: (host) => ['--path', host.tool, ...withConfig(host)] },
    { words: (host) => ['--port', '1', ...withConfig(host)], code: 126, isNamed: false },
  ],
  'srv config reload': [unnamed],
  'srv plan status': [asked],
  'srv plan show': [asked],
  'srv plan history': [asked],
  'srv plan apply': [
    { words: (host) => ['--dry-run', '--file', plan(host), ...withConfig(host)] },
    { words: (host) => ['--file', plan(host), ...withConfig(host)], isOnce: true },
  ],
  'srv registry check': [
    {
      words: (host) => ['127.0.0.1:1/some/image:v1', ...withConfig(host)],
      code: 1,
      isNamed: false,
    },
  ],
  'srv csi-proxy status': [asked],
  'srv csi-proxy apply': [{ words: (host) => ['--dry-run', ...withConfig(host)] }],
  'srv network status': [asked],
  'srv network plan': [{ ...asked, code: 69, isMute: true }],
  'srv network apply': [{ ...asked, code: 1 }],
  'srv network teardown': [
    { words: (host) => ['--dry-run', ...withConfig(host)], code: 69, isMute: true },
  ],
  'srv events': [asked],
  'srv metrics': [asked],
  'srv debug stacks': [
    {
      words: (host) => ['--seconds', '0.1', ...withConfig(host)],
      isNamed: false,
      isAlone: true,
    },
  ],
  'srv debug report': [unnamed],
  'srv debug heap': [{ words: (host, file) => [file, ...withConfig(host)], isOnce: true }],
  'srv debug cpu': [recording],
  'srv debug trace': [recording],
  'srv debug handles': [asked],
  'srv debug log-level': [asked],
  'srv debug connections': [asked],
  'srv debug runs': [asked],
  'srv debug streams': [unnamed],
  'srv audit show': [asked],
  'srv audit verify': [unnamed],
  up: [
    { words: ({ service }) => ['--dry-run', ...service], code: 65, isNamed: false, isAlone: true },
    { words: ({ service }) => ['--show-result', ...service], isNamed: false },
    { words: ({ service }) => ['--show-result', '--id', 'x', ...service] },
  ],
  install: [refusedNode],
  join: [{ words: none, code: 64 }],
  leave: [refusedNode],
  uninstall: [refusedNode],
  suc: [refusedNode],
  status: [{ ...asked, code: 2 }],
  doctor: [{ ...asked, code: 2 }],
  'support-bundle': [{ words: (host, file) => [file, ...withConfig(host)] }],
  version: [{ words: none }],
};

describe('the answer of each command', () => {
  let host: PackagedHost;
  let staying: RunningProgram;
  let files = 0;
  beforeAll(async () => {
    const [port] = await freePorts(1);
    host = await PackagedHost.start(false, (workspace) => sections(workspace, port));
    const run = ['cli', 'prc', 'run', ...onPipe(host), '--path', host.tool];
    for (const name of [DETACHED, STOPPED])
      await host.start(...run, '--detach', '--name', name, '--', ...host.stay).outcome;
    staying = host.start(...run, '--', ...host.stay);
    await staying.printed('up');
  });
  afterAll(async () => {
    // Otherwise the client waits for the next daemon.
    staying.child.kill('SIGKILL');
    await staying.outcome;
    await host[Symbol.asyncDispose]();
  });

  const print = async (command: string, way: Way, form: string): Promise<Answered> => {
    files += 1;
    const words = way.words(host, `${host.config}.${files}`);
    const program = host.start(...command.split(' '), ...words, '-o', form);
    if (way.isEndless) {
      await program.printed(path.basename(host.tool));
      program.child.kill('SIGTERM');
    }
    const { code, stdout } = await program.outcome;
    return { code, printed: String(stdout) };
  };

  it('is checked here for every command that has --output', () => {
    const schema = readFileSync(path.join(ROOT, 'docs/command-output.schema.json'), 'utf8');
    const { properties } = JSON.parse(schema) as { readonly properties: object };
    expect(Object.keys(WAYS)).toEqual(Object.keys(properties));
  });

  it.each(
    Object.entries(WAYS).flatMap(([command, ways]) => ways.map((way) => [command, way] as const)),
  )('has every form: wins %s', async (command, way) => {
    const forms = way.isOnce ? ['json'] : ['json', 'yaml', 'table', 'name'];
    const answers: Answered[] = [];
    if (way.isAlone) for (const form of forms) answers.push(await print(command, way, form));
    else answers.push(...(await Promise.all(forms.map((form) => print(command, way, form)))));
    const [json = '', yaml, table, names] = answers.map(({ printed }) => printed);
    expect(answers.map(({ code }) => code)).toEqual(forms.map(() => way.code ?? 0));
    if (way.isMute) {
      expect(new Set(answers.map(({ printed }) => printed))).toEqual(new Set(['']));
      return;
    }
    const isSeries = way.isEndless || command === 'srv events' || command === 'srv audit show';
    const values = (isSeries ? json.trim().split('\n') : [json]).map(parseJson);
    expect(commandValues(command, values)).not.toEqual([]);
    if (yaml === undefined || table === undefined || names === undefined) return;
    expect(commandValues(command, documentsIn(yaml))).not.toEqual([]);
    expect(table).toMatch(/^[A-Z]+(?: [A-Z%]+)*(?: {2,}[A-Z]|\n)/);
    expect(table).not.toMatch(/undefined|\[object |^\[\d+\]/m);
    const lines = names.split('\n').slice(0, -1);
    if (way.isEndless) lines.pop();
    if (way.isNamed === false) expect(names).toBe('');
    else expect(lines).not.toEqual([]);
    for (const line of lines) expect(line).toMatch(/^(?!undefined$|\[object |[{[]).+$/);
  });
});

const parseJson = (text: string): unknown => JSON.parse(text);

function documentsIn(yaml: string): readonly unknown[] {
  return yaml
    .split(/^---\n/m)
    .filter((text) => text !== '')
    .map((text) => {
      const found = readYaml(z.unknown(), text, 'the answer');
      if ('found' in found) throw new Error(found.found);
      return found.value;
    });
}

/** Turns on what can be on here. No archive of csi-proxy can be fetched, and a relay to the host itself is rejected. */
function sections(workspace: Workspace, metricsPort: number | undefined): object {
  workspace.variables['WINS_CSI_PROXY_SERVICE'] = workspace.path('csi-service.json');
  const once = { files: [{ content: '', path: workspace.path('made') }] };
  workspace.write('plans/one.plan', JSON.stringify(once));
  return {
    metrics: { listen: `127.0.0.1:${metricsPort}` },
    systemagent: {
      localEnabled: true,
      localPlanDirectory: workspace.path('plans'),
      workDirectory: workspace.path('agent/work'),
      appliedPlanDirectory: workspace.path('agent/applied'),
      imagesDirectory: workspace.path('agent/images'),
    },
    hostNetwork: { ports: [{ proto: 'tcp', listen: '127.0.0.1:1', to: '127.0.0.1:2' }] },
    'csi-proxy': {
      url: 'https://127.0.0.1:1/csi-proxy-%[1]s.tar.gz',
      version: 'v1.1.3',
      kubeletPath: '/var/lib/kubelet',
    },
  };
}
