import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { runWins, startWins, type Outcome, type RunningProgram } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { processesWith, until } from '../testing/process-table.js';
import { isAll } from '../testing/sample.js';
import { Workspace } from '../testing/workspace.js';

const COUNTER = `let line = 0;
setInterval(() => console.log('line ' + line++), 10);`;
const PROGRAMS = ['one', 'two'] as const;

type Program = (typeof PROGRAMS)[number];
type Step =
  | 'start a run'
  | 'kill the daemon'
  | 'stop the daemon'
  | 'kill the keeper'
  | 'kill a program'
  | 'kill a client';

type Fate = 'lives' | 'killed' | 'lost';

/** Returns a random generator that repeats its choices for the same seed. */
function choices(seed: number): (count: number) => number {
  let state = seed;
  return (count) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * count);
  };
}

/** A node with detached runs. Any process may die at any moment. */
class MortalNode implements AsyncDisposable {
  readonly #workspace = new Workspace();
  readonly #programs: Readonly<Record<Program, string>>;
  readonly #config: string;
  readonly #fates = new Map<string, { readonly program: Program; fate: Fate }>();
  #daemon: Daemon | undefined;
  #client: RunningProgram | undefined;

  constructor() {
    const write = (name: Program): string => this.#workspace.program(name, COUNTER);
    this.#programs = { one: write('one'), two: write('two') };
    const entry = (program: string) => ({ path: program, detached: { allow: true, maxRuns: 16 } });
    this.#config = this.#workspace.config(Object.values(this.#programs).map(entry));
  }

  async take(step: Step, program: Program): Promise<void> {
    switch (step) {
      case 'start a run':
        await this.#start(program);
        return;
      case 'kill the daemon':
      case 'stop the daemon':
        await this.#daemon?.stop(step === 'kill the daemon' ? 'SIGKILL' : 'SIGTERM');
        this.#daemon = undefined;
        return;
      case 'kill the keeper':
        if (this.#keepers().length === 0) return;
        for (const pid of this.#keepers()) process.kill(pid, 'SIGKILL');
        await this.#become('lost', () => true);
        return;
      case 'kill a program':
        for (const pid of this.#processesOf(program)) process.kill(pid, 'SIGKILL');
        await this.#become('killed', (run) => run.program === program);
        return;
      case 'kill a client':
        await this.#killClient();
        return;
    }
  }

  /** Checks that all runs have their expected fate. Returns the number of runs. */
  async check(): Promise<number> {
    await this.#serve();
    for (const [name, { program, fate }] of this.#fates) {
      expectCounted((await this.#prc('logs', name)).stdout.toString());
      if (fate === 'lives') {
        expect([name, this.#processesOf(program).length]).toEqual([name, this.#living(program)]);
        continue;
      }
      const { code, stderr } = await this.#prc('wait', name);
      expect([name, code]).toEqual([name, 137]);
      expect(stderr).toBe(fate === 'lost' ? `wins: ${name} was stopped: hostFailed\n` : '');
    }
    for (const program of PROGRAMS) {
      await until(() => this.#processesOf(program).length === this.#living(program));
    }
    return this.#fates.size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#serve();
    for (const name of this.#fates.keys()) await this.#prc('rm', name);
    await until(() => this.#keepers().length === 0);
    expect(PROGRAMS.flatMap((program) => this.#processesOf(program))).toEqual([]);
    this.#client?.child.kill('SIGKILL');
    await this.#daemon?.stop();
    this.#workspace[Symbol.dispose]();
  }

  async #start(program: Program): Promise<void> {
    await this.#serve();
    const { code, stdout } = await this.#prc('run', '-d', '--path', this.#programs[program]);
    expect(code).toBe(0);
    const name = stdout.toString().trim();
    this.#fates.set(name, { program, fate: 'lives' });
    await this.#killClient();
    this.#client = startWins(['cli', 'prc', 'logs', '-f', name], this.#workspace.environment);
    await this.#client.printed('line 3\n');
  }

  /** Kills the client that follows a run. The client's output until then must be complete. */
  async #killClient(): Promise<void> {
    const client = this.#client;
    if (client === undefined) return;
    client.child.kill('SIGKILL');
    const { stdout } = await client.outcome;
    expectCounted(stdout.toString());
    this.#client = undefined;
  }

  /** Number of runs that live. Several runs of one program live side by side. */
  #living(program: Program): number {
    const all = [...this.#fates.values()];
    return all.filter((run) => run.program === program && run.fate === 'lives').length;
  }

  async #serve(): Promise<void> {
    this.#daemon ??= await Daemon.start(this.#workspace, this.#config);
  }

  /** Sets the fate of runs, and waits until their end is recorded. */
  async #become(fate: Fate, isMeant: (run: { readonly program: Program }) => boolean) {
    for (const [name, run] of this.#fates) {
      if (run.fate !== 'lives' || !isMeant(run)) continue;
      run.fate = fate;
      if (this.#daemon !== undefined) await this.#prc('wait', name);
      else if (fate === 'killed') await until(() => this.#hasEnd(name));
    }
  }

  #hasEnd(name: string): boolean {
    const folder = this.#workspace.path('run', 'rancher_wins.state', 'runs');
    const runs = readdirSync(folder).map((mark) => path.join(folder, mark));
    return runs.some((run) => {
      const facts = path.join(run, 'run.json');
      if (!existsSync(facts) || !existsSync(path.join(run, 'end.json'))) return false;
      return readFileSync(facts, 'utf8').includes(`"${name}"`);
    });
  }

  readonly #prc = (...args: string[]): Promise<Outcome> =>
    runWins(['cli', 'prc', ...args], this.#workspace.environment);
  readonly #keepers = (): number[] => processesWith('srv\0keep', this.#workspace.folder);
  readonly #processesOf = (program: Program): number[] =>
    processesWith(this.#workspace.path(`rancher-wins-${program}`));
}

/** No line may be missing or repeated; the last may be incomplete. */
function expectCounted(text: string): void {
  const lines = text.split('\n').slice(0, -1);
  expect(lines).toEqual(lines.map((_, index) => `line ${index}`));
  expect(lines.length).toBeGreaterThan(0);
}

describe('detached runs', () => {
  const seeds = Array.from({ length: isAll ? 16 : 4 }, (_, index) => index + 1);
  const STEPS: readonly Step[] = [
    'start a run',
    'start a run',
    'start a run',
    'kill a client',
    'kill the daemon',
    'kill the daemon',
    'stop the daemon',
    'kill the keeper',
    'kill a program',
  ] as const;

  it.each(seeds)(
    'have their expected fates, whatever dies in which order (%d)',
    async (seed) => {
      const choose = choices(seed);
      await using node = new MortalNode();
      await node.take('start a run', 'one');
      const steps: string[] = [];
      for (let count = 0; count < 8; count += 1) {
        const step = STEPS[choose(STEPS.length)] ?? 'start a run';
        const program = PROGRAMS[choose(PROGRAMS.length)] ?? 'one';
        steps.push(`${step} (${program})`);
        await node.take(step, program);
      }
      expect(await node.check()).toBeGreaterThan(0);
    },
    120_000,
  );
});
