import { startApiServer, type ApiServer } from '@wins/system-agent/testing';
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { startProgram } from '../built-program.js';
import { base64, PlanNode } from './plan-node.js';
import { processesWith, until } from '../process-table.js';
import { ROOT } from '../workspace.js';

/** Runs the daemon, which dies after a step of its agent: when it has kept the result of a plan, or when a program has ended. */
const DRIVER = `
const { AGENT_DIES_AT: diesAt } = process.env;
delete process.env.AGENT_DIES_AT;
const reach = (step) => { if (step === diesAt) { process.kill(process.pid, 'SIGKILL'); for (;;); } };
const around = (module, rename = module.rename) => {
  module.rename = (from, to, ...more) => {
    const end = () => reach('rename ' + to.split('/').at(-1));
    const [last] = more;
    if (last !== undefined) return rename(from, to, (...done) => { end(); last(...done); });
    return rename(from, to).finally(end);
  };
};
around(require('node:fs/promises'));
around(require('node:fs'));

const features = require.resolve(${JSON.stringify(path.join(ROOT, 'dist', 'wins-features.cjs'))});
const { agent, ...others } = require(features);
const { startAgent, ...more } = agent();
const startObserved = ({ commands, ...parts }) =>
  startAgent({
    ...parts,
    commands: {
      ...commands,
      run: async (command, signal) => {
        const exit = await commands.run(command, signal);
        reach('run ' + command.args[0]);
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

/** A node whose daemon is killed while it applies a plan of `plan-state` pending, and then restarted. */
export class CrashedAgent implements AsyncDisposable {
  readonly node = new PlanNode();
  readonly #api: ApiServer;
  readonly #config: string;
  readonly #driver: string;

  private constructor(api: ApiServer) {
    const { workspace } = this.node;
    this.#api = api;
    this.#config = this.node.remoteConfig(api);
    this.#driver = workspace.write('driver.cjs', DRIVER);
    // Write to the file first, because the daemon may be killed as soon as it receives the output.
    const line = '"$1 $CATTLE_AGENT_ATTEMPT_NUMBER"';
    const say = workspace.script('say', `echo ${line} >>${this.#runs}; echo ${line}`);
    const instructions = NAMES.map((name) => ({
      name,
      command: say,
      args: [name],
      saveOutput: true,
    }));
    api.create({ plan: JSON.stringify({ instructions }), 'plan-state': 'pending' });
  }

  static async create(): Promise<CrashedAgent> {
    return new CrashedAgent(await startApiServer());
  }

  /** Kills the daemon after a step, restarts it, and checks the result. The instructions run again only if the plan has no result yet. */
  async dieAndFollow(step: string): Promise<void> {
    const args = [this.#driver, 'srv', 'app', 'run', '--config', this.#config];
    const environment = { ...this.node.workspace.environment, AGENT_DIES_AT: step };
    const crashing = startProgram(process.execPath, args, environment);
    assert.equal((await crashing.outcome).signal, 'SIGKILL');
    const before = readFileSync(this.#runs, 'utf8');
    const hadResult = existsSync(this.#unwritten);

    await using _daemon = await this.node.start(this.#config);
    await until(() => this.#text('plan-state') === 'succeeded' && !existsSync(this.#unwritten));
    const again = hadResult ? '' : NAMES.map((name) => `${name} 1\n`).join('');
    assert.equal(readFileSync(this.#runs, 'utf8'), before + again);
    const output = gunzipSync(this.#api.data()['applied-output'] ?? '').toString();
    const saved = Object.fromEntries(NAMES.map((name) => [name, base64(`${name} 1\n`)]));
    assert.deepEqual(JSON.parse(output), saved);
    const counts = ['success-count', 'failure-count', 'plan-revision'].map((key) =>
      this.#text(key),
    );
    assert.deepEqual(counts, ['1', '0', '1']);
    assert.equal(processesWith(this.node.workspace.path('say')).length, 0);
  }

  get #runs(): string {
    return this.node.workspace.path('runs');
  }

  get #unwritten(): string {
    return path.join(this.node.home, 'applied', 'state', 'unwritten.json');
  }

  #text(key: string): string {
    return String(this.#api.data()[key] ?? '');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.node[Symbol.asyncDispose]();
    await this.#api.close();
  }
}
