import { startApiServer, type ApiServer } from '@wins/system-agent/testing';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { startProgram } from '../built-program.js';
import { Daemon } from '../daemon.js';
import { base64, PlanNode } from './plan-node.js';
import { processesWith, until } from '../process-table.js';
import { ROOT } from '../workspace.js';

export type Moment = 'before' | 'during' | 'after';

/** `step`: number of the step, counted from 1, or its name. */
export interface Crash {
  readonly step: number | string;
  readonly moment: Moment;
}

/** `isPending`: the Secret has `plan-state`. Without it, the older protocol applies. */
export interface PlanOfCrash {
  readonly isPending: boolean;
  readonly fails: boolean;
}

/** Runs the daemon and counts the steps of its agent: changes of files, writes to the Secret, and starts of programs. */
const DRIVER = `
const { appendFileSync } = require('node:fs');
const { crash, trace, folders } = JSON.parse(process.env.AGENT_DRIVER);
delete process.env.AGENT_DRIVER;
let count = 0;
const die = () => { process.kill(process.pid, 'SIGKILL'); for (;;); };
const begin = (name) => {
  count += 1;
  appendFileSync(trace, name + '\\n');
  const moment = [count, name].includes(crash?.step) ? crash.moment : undefined;
  if (moment === 'before') die();
  return { during: () => moment === 'during' && die(), end: () => moment === 'after' && die() };
};
const isOurs = (file) => typeof file === 'string' && folders.some((folder) => file.startsWith(folder));
const shown = (file) => file.split('/').at(-1).replace(/^\\.(.+)\\.[0-9a-f]+\\.tmp$/, 'new $1');
const around = (module, name) => {
  const original = module[name];
  module[name] = (...args) => {
    const file = args.find(isOurs);
    if (file === undefined) return original(...args);
    const step = begin(name.replace('Sync', '') + ' ' + shown(args.findLast(isOurs)));
    const last = args.at(-1);
    if (typeof last === 'function') args.splice(-1, 1, (...done) => { step.end(); last(...done); });
    const done = original(...args);
    step.during();
    if (typeof done?.then === 'function') return done.finally(step.end);
    if (typeof last !== 'function') step.end();
    return done;
  };
};
for (const name of ['mkdir', 'rm', 'rmdir', 'rename', 'unlink']) {
  around(require('node:fs/promises'), name);
  around(require('node:fs'), name + 'Sync');
}
for (const name of ['open', 'rename', 'unlink']) around(require('node:fs'), name);

const http = require('node:http');
const { request } = http;
http.request = (...args) => {
  const { method } = args.find((arg) => arg?.method) ?? {};
  const step = begin(method);
  const outgoing = request(...args);
  outgoing.on('finish', step.during);
  outgoing.on('response', step.end);
  return outgoing;
};

const features = require.resolve(${JSON.stringify(path.join(ROOT, 'dist', 'wins-features.cjs'))});
const { agent, ...others } = require(features);
const { startAgent, ...more } = agent();
const startObserved = ({ commands, ...parts }) =>
  startAgent({
    ...parts,
    commands: {
      ...commands,
      run: async (command, signal) => {
        const step = begin('run ' + command.args[0]);
        let hasBegun = false;
        const { onOutput } = command;
        const onBegun = (...output) => { step.during(); return onOutput(...output); };
        const exit = await commands.run({ ...command, onOutput: onBegun }, signal);
        step.end();
        return exit;
      },
    },
  });
require.cache[features].exports = {
  ...others,
  agent: () => ({ ...more, startAgent: startObserved }),
};
require(${JSON.stringify(path.join(ROOT, 'dist', 'wins.cjs'))});
`;

const NAMES = ['first', 'second'];

/** A node whose daemon is killed while it applies a plan, and then restarted. */
export class CrashedAgent implements AsyncDisposable {
  readonly node = new PlanNode();
  readonly #api: ApiServer;
  readonly #rules: PlanOfCrash;
  readonly #config: string;
  readonly #driver: string;
  readonly #checksum: string;

  private constructor(api: ApiServer, rules: PlanOfCrash) {
    const { workspace } = this.node;
    this.#api = api;
    this.#rules = rules;
    this.#config = this.node.remoteConfig(api);
    this.#driver = workspace.write('driver.cjs', DRIVER);
    // Write to the file first, because the daemon may be killed as soon as it receives the output.
    const line = '"$1 $CATTLE_AGENT_ATTEMPT_NUMBER"';
    const say = workspace.script('say', `echo ${line} >>${this.#runs}; echo ${line}; exit $2`);
    const plan = JSON.stringify({
      files: NAMES.map((name) => ({
        ...{ path: workspace.path('etc', name), content: base64(name), uid: -1, gid: -1 },
      })),
      instructions: NAMES.map((name, index) => ({
        ...{ name, command: say, saveOutput: true },
        args: [name, rules.fails && index > 0 ? '3' : '0'],
      })),
    });
    this.#checksum = createHash('sha256').update(plan).digest('hex');
    api.create({ plan, 'max-failures': '1', ...(rules.isPending && { 'plan-state': 'pending' }) });
  }

  static async create(rules: PlanOfCrash): Promise<CrashedAgent> {
    return new CrashedAgent(await startApiServer(), rules);
  }

  /** Returns all steps of the agent until the Secret has the result. */
  static async steps(rules: PlanOfCrash): Promise<string[]> {
    await using crashed = await CrashedAgent.create(rules);
    const daemon = crashed.#launch();
    await until(() => crashed.#isAtRest);
    await daemon.stop('SIGKILL');
    return crashed.#lines('trace');
  }

  /**
   * Kills the daemon at a step, restarts it, and checks that nothing is lost. The instructions run again only if the plan has no result yet. The
   * older protocol also repeats a successful plan at each start.
   */
  async dieAndFollow(crash: Crash): Promise<void> {
    const crashing = this.#launch(crash);
    const ended = await Promise.race([
      crashing.outcome.then(({ signal }) => signal),
      until(() => this.#isAtRest),
    ]);
    // If the plan needs fewer steps than `crash.step`, kill the daemon when the plan is done.
    if (typeof crash.step === 'string') assert.equal(ended, 'SIGKILL');
    await crashing.stop('SIGKILL');
    const before = this.#lines('runs');
    const hadResult = this.#isKept || this.#isWritten;
    const { isPending, fails } = this.#rules;
    const runsAgain = !hadResult || (!isPending && !fails);

    await using _daemon = await this.node.start(this.#config);
    const wanted = [...before, ...(runsAgain ? NAMES.map((name) => `${name} 1`) : [])];
    const successes = fails ? '0' : String(1 + Number(hadResult && runsAgain));
    await until(() => this.#isAtRest && this.#data['success-count'] === successes);
    assert.deepEqual(this.#lines('runs'), wanted);
    this.#expectResult();
    assert.deepEqual(
      NAMES.map((name) => this.#text('etc', name)),
      NAMES,
    );
    assert.equal(processesWith(this.node.workspace.path('say')).length, 0);
  }

  #expectResult(): void {
    const { isPending, fails } = this.#rules;
    const { data } = this.#api.read() ?? {};
    const { [fails ? 'failed-output' : 'applied-output']: output = '' } = data ?? {};
    const saved: unknown = JSON.parse(gunzipSync(Buffer.from(output, 'base64')).toString());
    assert.deepEqual(saved, Object.fromEntries(NAMES.map((name) => [name, base64(`${name} 1\n`)])));
    const found = this.#data;
    assert.equal(found['failure-count'], fails ? '1' : '0');
    assert.equal(found[fails ? 'failed-checksum' : 'applied-checksum'], this.#checksum);
    const states = isPending ? [fails ? 'failed' : 'succeeded', '1'] : [undefined, undefined];
    assert.deepEqual([found['plan-state'], found['plan-revision']], states);
  }

  #launch(crash?: Crash): Daemon {
    const { workspace } = this.node;
    const folders = [this.node.home, workspace.path('etc')];
    const settings = { crash, trace: workspace.path('trace'), folders };
    const args = [this.#driver, 'srv', 'app', 'run', '--config', this.#config];
    const environment = { ...workspace.environment, AGENT_DRIVER: JSON.stringify(settings) };
    return Daemon.of(startProgram(process.execPath, args, environment));
  }

  get #runs(): string {
    return this.node.workspace.path('runs');
  }

  get #unwritten(): string {
    return path.join(this.node.home, 'applied', 'state', 'unwritten.json');
  }

  get #isKept(): boolean {
    return existsSync(this.#unwritten);
  }

  get #isWritten(): boolean {
    return this.#data['success-count'] !== undefined;
  }

  get #isAtRest(): boolean {
    return this.#isWritten && !this.#isKept && !existsSync(path.join(this.node.home, 'work'));
  }

  get #data(): Readonly<Record<string, string>> {
    const data = Object.entries(this.#api.data());
    return Object.fromEntries(data.map(([key, value]) => [key, value.toString()]));
  }

  #lines(name: string): string[] {
    return this.#text(name).split('\n').filter(Boolean);
  }

  #text(...names: string[]): string {
    const file = this.node.workspace.path(...names);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.node[Symbol.asyncDispose]();
    await this.#api.close();
  }
}
