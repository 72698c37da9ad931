import { FakeClock } from '@wins/base/testing';
import { systemClock } from '@wins/time';
import path from 'node:path';

import { posixFileTrust } from '@wins/trusted-files';

import type { AgentEvent } from '../../agent-event.js';
import { posixPlanFiles } from '../../apply/plan-files.js';
import { createSystemAgent } from '../../create-system-agent.js';
import { imageStore } from '../../images/image-store.js';
import type { Clock, PlanFileRights, PlanFiles, ProgramRunner, SecretStore } from '../../ports.js';
import type { SystemAgent } from '../../system-agent.js';
import { groupRunner } from '../group-runner.js';
import type { ProbeTarget } from './probe-target.js';
import type { RecordedAction, Recording } from './recording.js';
import { StoppedSleeps } from './stopped-sleeps.js';

export interface PlayedVersion {
  readonly t: number;
  readonly data: Readonly<Record<string, Buffer>>;
}

export interface PlayedSecrets {
  /** The store of one agent process. */
  connect(): SecretStore;
  onWritten: () => void;
  /** True when no data to or from the agent is in transit. */
  readonly isAtRest: boolean;
  /** Number of the store's `wait` calls to the clock that have not ended yet. */
  readonly waits: number;
  /** Empty without a Secret. */
  data(): Readonly<Record<string, Buffer>>;
  create(data: Readonly<Record<string, string>>): void;
  change(data?: Readonly<Record<string, string>>): void;
  delete(): void;
  breakDown(): void | Promise<void>;
  recover(): void | Promise<void>;
}

/** Performs one recorded action, instead of the player's own handling of it. */
export type Deed = (player: ScenarioPlayer, action: RecordedAction) => void | Promise<void>;

const STARTS = /^agent (?:re)?started|^restart /;
/** Time from the Go agent's start to its first pass. */
const START_MS = 150;

/**
 * Plays a recording to this agent, with real files and programs. When the agent can do nothing more, the clock moves to the
 * next timer, sleep or recorded action.
 */
export class ScenarioPlayer {
  readonly events: AgentEvent[] = [];
  readonly written: PlayedVersion[] = [];
  /** Called after each write by the agent. If it throws, the agent's call fails, although the Secret was written. */
  onWrite: () => void = () => undefined;
  readonly #sleeps: StoppedSleeps;
  readonly #recording: Recording;
  readonly #deeds: Readonly<Record<string, Deed>>;
  readonly #start: number;
  #agent: SystemAgent | undefined;
  #running = 0;

  constructor(
    recording: Recording,
    readonly folder: string,
    readonly target: ProbeTarget,
    readonly secrets: PlayedSecrets,
    readonly clock = new FakeClock(),
    deeds: Readonly<Record<string, Deed>> = {},
  ) {
    this.#recording = recording;
    this.#deeds = deeds;
    this.#start = clock.now().getTime();
    this.#sleeps = new StoppedSleeps(folder);
    this.secrets.onWritten = () => {
      this.written.push({ t: this.#nowMs / 1000, data: this.secrets.data() });
      this.onWrite();
    };
  }

  async play(): Promise<void> {
    try {
      for (const recorded of this.#recording.actions) {
        const delayMs = STARTS.test(recorded.action) ? START_MS : 0;
        await this.#advanceTo(recorded.t * 1000 + delayMs);
        await this.#do(recorded);
        await this.settle();
      }
    } finally {
      await this.stop();
    }
  }

  start(): void {
    if (this.#agent) return;
    const { config } = this.#recording;
    this.#agent = createSystemAgent({
      workDirectory: path.join(this.folder, 'execution'),
      preserveWorkDirectory: config.preserveWorkDirectory,
      appliedPlanDirectory: path.join(this.folder, 'applied'),
      stateDirectory: path.join(this.folder, 'state'),
      ...(config.localEnabled && { localPlanDirectory: path.join(this.folder, 'plans') }),
      ...(config.remoteEnabled && { secrets: this.secrets.connect() }),
      clock: this.#wrongClock(patientClock(this.clock, this.#recording)),
      files: process.getuid?.() === 0 ? posixPlanFiles() : ownPlanFiles(),
      programs: this.#programs(),
      images: imageStore({
        imagesDirectory: path.join(this.folder, 'images'),
        registriesFiles: [],
        platform: { os: 'linux', arch: 'amd64' },
        trust: posixFileTrust(),
        // No recording uses a registry, so no time-out needs to expire: waits on this clock never end.
        clock: { ...systemClock, wait: () => new Promise(() => undefined) },
        environment: {},
        onWarning: (message) => this.events.push({ kind: 'warning', source: 'images', message }),
      }),
      onAction: () => Promise.resolve(),
      onEvent: (event) => this.events.push(event),
    });
  }

  get agent(): SystemAgent {
    if (!this.#agent) throw new Error('the agent does not run');
    return this.#agent;
  }

  /** Advances the clock from timer to timer. After each, lets the agent finish its work. */
  async advanceBy(ms: number): Promise<void> {
    await this.#advanceTo(this.#nowMs + ms);
    await this.settle();
  }

  createSecret(): void {
    this.secrets.create(this.#recording.secretBefore ?? {});
  }

  async stop(): Promise<void> {
    await this.#agent?.close();
    this.#agent = undefined;
    this.#sleeps.forget();
  }

  /** Text of a file that the Go agent left, or an empty string if none. */
  recorded(name: string): string {
    const file = this.#recording.filesAtEnd.find((entry) => entry.path === name);
    return typeof file?.content === 'string' ? file.content : '';
  }

  /** Offset added to the agent's `now`, in milliseconds. Does not affect `wait`. */
  wrongByMs = 0;

  #wrongClock(clock: Clock): Clock {
    return { ...clock, now: () => new Date(clock.now().getTime() + this.wrongByMs) };
  }

  get #nowMs(): number {
    return this.clock.now().getTime() - this.#start;
  }

  async #do(recorded: RecordedAction): Promise<void> {
    const deed = this.#deeds[recorded.action];
    if (deed) await deed(this, recorded);
    else if (recorded.action === 'secret created') this.createSecret();
    else if (recorded.action === 'secret deleted') this.secrets.delete();
    else if (recorded.patch) this.secrets.change(recorded.patch.dataText);
    else if (/^agent sent SIG|^recorder ends the agent/.test(recorded.action)) await this.stop();
    // Our agent may still run where the Go agent had ended. Then `start` does nothing.
    else if (STARTS.test(recorded.action)) this.start();
    else if (!/^agent exited|^ps /.test(recorded.action)) {
      throw new Error(`nothing is known of the action "${recorded.action}"`);
    }
  }

  async #advanceTo(targetMs: number): Promise<void> {
    for (;;) {
      await this.settle();
      const timers = this.clock.waits.map((ms) => this.#nowMs + ms);
      const nextMs = Math.min(targetMs, ...timers, ...this.#sleeps.endsMs(this.#nowMs));
      this.clock.advance(Math.max(0, nextMs - this.#nowMs));
      await this.#sleeps.wake(this.#nowMs);
      if (nextMs === targetMs) return;
    }
  }

  /** Resolves when the agent can do nothing more until the clock moves. */
  async settle(): Promise<void> {
    for (let quiet = 0, turns = 0; quiet < 3; turns += 1) {
      // Work in this process needs a few turns of the event loop; programs need milliseconds.
      const isLong = this.#running > 0 || turns >= 100;
      await new Promise((resolve) => (isLong ? setTimeout(resolve, 1) : setImmediate(resolve)));
      quiet = this.#isQuiet() ? quiet + 1 : 0;
      if (turns > 20_000) throw new Error('the agent does not come to rest');
    }
  }

  #isQuiet(): boolean {
    if (!this.#agent) return true;
    if (this.#recording.config.remoteEnabled && !this.secrets.isAtRest) return false;
    if (this.#running > 0) return this.#sleeps.endsMs(this.#nowMs).length >= this.#running;
    const { localEnabled } = this.#recording.config;
    const waits = this.clock.waits.length - this.secrets.waits - Number(localEnabled);
    // Check this first: a status reads the whole Secret.
    if (waits < 0) return false;
    const remote = this.#agent.status().plans.find(({ source }) => source === 'remote');
    if (remote?.state.kind === 'starting') return false;
    // Without a plan there is nothing to wait for.
    const waitsForTime = remote?.checksum !== undefined || remote?.state.kind === 'invalid';
    return waits >= Number(waitsForTime);
  }

  #programs(): ProgramRunner {
    const programs = groupRunner({
      searchPath: [this.#sleeps.searchPath, '/usr/local/bin', '/usr/bin', '/bin'],
      environment: {
        HOME: this.folder,
        LANG: 'C.UTF-8',
        CATTLE_AGENT_CONFIG: path.join(this.folder, 'config.yaml'),
        CATTLE_LOGLEVEL: 'debug',
      },
    });
    return {
      ...programs,
      run: async (command, { signal }) => {
        this.#running += 1;
        try {
          return await programs.run(command, { signal });
        } finally {
          this.#running -= 1;
        }
      },
    };
  }
}

/**
 * Returns a clock on which probes never time out. Their time-outs must not appear in `clock.waits`, because the player takes
 * a wait there as a sign that the agent is idle.
 */
function patientClock(clock: Clock, recording: Recording): Clock {
  const delays = JSON.stringify(recording).matchAll(/initialDelaySeconds\\": (\d+)/g);
  const delaysMs = new Set([...delays].map(([, seconds]) => Number(seconds) * 1000));
  return {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    wait: async (ms, { signal } = {}) => {
      const isOfProbe = new Error().stack?.includes('run-probes') ?? false;
      if (!isOfProbe || delaysMs.has(ms)) return clock.wait(ms, { signal });
      await new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      });
    },
  };
}

/** Returns plan files that never set an owner, because only root can do that. */
function ownPlanFiles(): PlanFiles {
  const files = posixPlanFiles();
  const own = (rights: PlanFileRights): PlanFileRights => ({ ...rights, uid: -1, gid: -1 });
  return {
    ...files,
    ensureFolder: (folder, rights) => files.ensureFolder(folder, own(rights)),
    writeFile: (file, content, rights) => files.writeFile(file, content, own(rights)),
    writeAhead: async (file, content, rights) => files.writeAhead?.(file, content, own(rights)),
  };
}
