import type { SecretStore, WatchState } from '../ports.js';
import { ANSWER_MS, QUIET_MS } from '../kubernetes/api-connection.js';
import { followSecret } from '../kubernetes/follow-secret.js';
import { KnownSecret } from '../sources/known-secret.js';
import { SimulatedApi, type SimulatedFault } from './simulated-api.js';
import { SimulatedTime } from './simulated-time.js';

export interface FleetLoad {
  /** Largest number of agents that sent requests within one second. */
  readonly busiestSecond: number;
  /** Mean number of requests a second. Of a return: until the last agent is connected again. */
  readonly requestsPerS: number;
}

export interface FleetReturn extends FleetLoad {
  /** Time until the last agent is connected again. Infinity: some agent is not. */
  readonly longestWaitMs: number;
}

const MINUTE_MS = 60_000;
const NAMESPACE = 'fleet-default';
/** The agents start within this time, so that their watches do not end together. */
const START_MS = 5 * MINUTE_MS;

/** Agents that follow their Secrets at one API server, on simulated time. Each method that returns figures first forgets earlier requests. */
export class SimulatedFleet {
  readonly time = new SimulatedTime();
  readonly api = new SimulatedApi(this.time);
  /** The plan that each agent knows. */
  readonly plans = new Map<number, string>();
  readonly size: number;
  readonly #connectedAtMs = new Map<number, number>();
  readonly #agents: { readonly stop: AbortController; readonly ended: Promise<void> }[] = [];

  private constructor(size: number) {
    this.size = size;
  }

  /** Starts agents at different times. Resolves when all are connected. */
  static async start(size: number): Promise<SimulatedFleet> {
    const fleet = new SimulatedFleet(size);
    for (let client = 0; client < size; client += 1) {
      fleet.api.secrets.create(draftOf(client, 'first'), 'rancher');
      // Of their own, because a signal looks through all of its listeners to add one.
      const stop = new AbortController();
      fleet.#agents.push({ stop, ended: fleet.#follow(client, stop.signal) });
    }
    await fleet.time.run(START_MS + MINUTE_MS);
    if (fleet.#connectedAtMs.size < size) throw new Error('not every agent has connected');
    return fleet;
  }

  /** Lets time pass. */
  async idle(ms: number): Promise<FleetLoad> {
    return await this.#load(ms);
  }

  /** Cuts all connections, and refuses new ones for a time. The history of the server is lost. */
  async loseServer(awayMs: number): Promise<FleetReturn> {
    this.api.isDown = true;
    this.api.cut();
    await this.time.run(awayMs);
    this.api.isDown = false;
    this.api.secrets.compact();
    return await this.#return(2 * MINUTE_MS);
  }

  /** Gives each Secret a new plan, and then restores a backup without these plans. */
  async restoreBackup(): Promise<FleetReturn> {
    const { secrets } = this.api;
    const backup = secrets.backup();
    for (let client = 0; client < this.size; client += 1) {
      const { uid } = secrets.get(NAMESPACE, nameOf(client)).metadata;
      const draft = draftOf(client, 'second');
      secrets.replace({ ...draft, metadata: { ...draft.metadata, uid } }, 'rancher');
    }
    await this.time.run(MINUTE_MS);
    if (!this.allKnow('second')) throw new Error('not every agent knows the second plan');
    this.api.cut();
    secrets.restore(backup);
    return await this.#return(MINUTE_MS);
  }

  /** Breaks each watch for three minutes. */
  async breakWatches(fault: SimulatedFault): Promise<FleetReturn> {
    this.api.faultOf = ({ verb }) => (verb === 'watch' ? fault : undefined);
    this.api.cut();
    const load = await this.#load(3 * MINUTE_MS);
    this.api.faultOf = () => undefined;
    const { longestWaitMs } = await this.#return(2 * MINUTE_MS);
    return { ...load, longestWaitMs };
  }

  allKnow(plan: string): boolean {
    const known = [...this.plans.values()];
    return known.length === this.size && known.every((each) => each === plan);
  }

  async close(): Promise<void> {
    for (const { stop } of this.#agents) stop.abort();
    await Promise.all(this.#agents.map(({ ended }) => ended));
  }

  async #return(ms: number): Promise<FleetReturn> {
    const startMs = this.time.nowMs;
    const load = await this.#load(ms);
    const waits = [...this.#connectedAtMs.values()].map((atMs) => atMs - startMs);
    const longestWaitMs = waits.length < this.size ? Infinity : Math.max(0, ...waits);
    const sent = this.api.requests.filter(({ atMs }) => atMs - startMs <= longestWaitMs);
    return { ...load, requestsPerS: sent.length / (longestWaitMs / 1000), longestWaitMs };
  }

  async #load(ms: number): Promise<FleetLoad> {
    const { requests } = this.api;
    requests.splice(0);
    await this.time.run(ms);
    const seconds = new Map<number, Set<number>>();
    for (const { atMs, client } of requests) {
      const second = Math.floor(atMs / 1000);
      const clients = seconds.get(second) ?? new Set();
      seconds.set(second, clients.add(client));
    }
    const busiestSecond = Math.max(0, ...[...seconds.values()].map(({ size }) => size));
    return { busiestSecond, requestsPerS: requests.length / (ms / 1000) };
  }

  async #follow(client: number, signal: AbortSignal): Promise<void> {
    const random = chance(client);
    const name = { namespace: NAMESPACE, secretName: nameOf(client) };
    const connection = this.api.connect(client);
    await this.time.wait(random() * START_MS, { signal }).catch(() => undefined);
    const path = `/api/v1/namespaces/${NAMESPACE}/secrets/${name.secretName}`;
    const read: SecretStore['read'] = async ({ signal: until }) => {
      const found = (await connection.ask({ method: 'GET', path, what: 'read' }, until)) as {
        readonly metadata: { readonly uid: string; readonly resourceVersion: string };
        readonly data: { readonly plan: string };
      };
      const data = { plan: Buffer.from(found.data.plan, 'base64') };
      return { ...found.metadata, data, object: {} };
    };
    const known = new KnownSecret({ read } as unknown as SecretStore, this.time);
    const note = (): void => {
      this.plans.set(client, known.current?.data['plan']?.toString() ?? 'none');
    };
    await followSecret(
      name,
      {
        connection,
        clock: this.time,
        startTimer: this.time.startTimer,
        random,
        answerMs: ANSWER_MS,
        quietMs: QUIET_MS,
      },
      {
        onContact: () => undefined,
        onSecret: (secret) => {
          known.tell(secret);
          note();
          if (known.isDoubted) void known.read({ signal }).then(note, () => undefined);
        },
        onState: (state: WatchState) => {
          if (state.kind === 'connected') this.#connectedAtMs.set(client, this.time.nowMs);
          else this.#connectedAtMs.delete(client);
        },
      },
      signal,
    );
  }
}

/** Repeatable random numbers from 0 to less than 1 (mulberry32). */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function nameOf(client: number): string {
  return `plan-${client}`;
}

function draftOf(client: number, plan: string) {
  return {
    metadata: { namespace: NAMESPACE, name: nameOf(client) },
    data: { plan: Buffer.from(plan).toString('base64') },
  };
}
