import { KnownSecret } from '../sources/known-secret.js';
import type { Secret, SecretStore, WatchState } from '../ports.js';
import {
  SimulatedApi,
  type SimulatedFault,
  type SimulatedRequest,
} from '../testing/simulated-api.js';
import { SimulatedTime } from '../testing/simulated-time.js';
import { followSecret } from './follow-secret.js';

const AGENTS = 1000;
const MINUTE_MS = 60_000;
const NAMESPACE = 'fleet-default';

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

/** Agents that follow their Secrets at one API server, on simulated time. */
class Fleet {
  readonly time = new SimulatedTime();
  readonly api = new SimulatedApi(this.time);
  /** The plan that each agent knows. */
  readonly plans = new Map<number, string>();
  readonly connectedAtMs = new Map<number, number>();
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];

  constructor(readonly size = AGENTS) {
    for (let client = 0; client < size; client += 1) {
      this.api.secrets.create(draftOf(client, 'first'), 'rancher');
      this.#running.push(this.#follow(client));
    }
  }

  async #follow(client: number): Promise<void> {
    const random = chance(client);
    const name = { namespace: NAMESPACE, secretName: nameOf(client) };
    const connection = this.api.connect(client);
    const { signal } = this.#stop;
    // Agents start at different times.
    await this.time.wait(random() * 10 * MINUTE_MS, signal).catch(() => undefined);
    const path = `/api/v1/namespaces/${NAMESPACE}/secrets/${name.secretName}`;
    const read = async (until: AbortSignal): Promise<Secret> => {
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
      { connection, clock: this.time, startTimer: this.time.startTimer, random, answerMs: 30_000 },
      {
        onContact: () => undefined,
        onSecret: (secret) => {
          known.tell(secret);
          note();
          if (known.isDoubted) void known.read(signal).then(note, () => undefined);
        },
        onState: (state: WatchState) => {
          if (state.kind === 'connected') this.connectedAtMs.set(client, this.time.nowMs);
          else this.connectedAtMs.delete(client);
        },
      },
      signal,
    );
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }
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

/** Returns the largest number of agents that sent requests within one second. */
function busiestSecond(requests: readonly SimulatedRequest[]): number {
  const seconds = new Map<number, Set<number>>();
  for (const { atMs, client } of requests) {
    const second = Math.floor(atMs / 1000);
    const clients = seconds.get(second) ?? new Set();
    seconds.set(second, clients.add(client));
  }
  return Math.max(0, ...[...seconds.values()].map(({ size }) => size));
}

describe('a fleet of 1,000 agents', () => {
  let fleet: Fleet;
  beforeEach(async () => {
    fleet = new Fleet();
    await fleet.time.run(12 * MINUTE_MS);
    expect(fleet.connectedAtMs.size).toBe(AGENTS);
    fleet.api.requests.splice(0);
  });
  afterEach(() => fleet.close());

  it('sends a watch for each agent every five to ten minutes when it is idle, and nothing else', async () => {
    await fleet.time.run(60 * MINUTE_MS);
    const { requests } = fleet.api;
    expect(requests.every(({ verb }) => verb === 'watch')).toBe(true);
    expect(requests.length / AGENTS).toBeGreaterThan(6);
    expect(requests.length / AGENTS).toBeLessThan(12);
    expect(busiestSecond(requests)).toBeLessThan(0.02 * AGENTS);
  });

  it.each([
    ['restarts', 5_000],
    ['was away for ten minutes', 10 * MINUTE_MS],
  ])('comes back slowly to an API server that %s', async (_what, awayMs) => {
    const { api, time } = fleet;
    api.isDown = true;
    api.cut();
    await time.run(awayMs);
    api.isDown = false;
    api.secrets.compact();
    const backAtMs = time.nowMs;
    await time.run(2 * MINUTE_MS);
    expect(busiestSecond(api.requests)).toBeLessThanOrEqual(0.05 * AGENTS);
    const waits = [...fleet.connectedAtMs.values()].map((atMs) => atMs - backAtMs);
    expect(waits).toHaveLength(AGENTS);
    expect(Math.max(...waits)).toBeLessThan(MINUTE_MS);
  });

  it('has the plans of a restored cluster within a minute', async () => {
    const { api, time } = fleet;
    const backup = api.secrets.backup();
    for (let client = 0; client < AGENTS; client += 1) {
      const { uid } = api.secrets.get(NAMESPACE, nameOf(client)).metadata;
      const draft = draftOf(client, 'second');
      api.secrets.replace({ ...draft, metadata: { ...draft.metadata, uid } }, 'rancher');
    }
    await time.run(MINUTE_MS);
    expect(new Set(fleet.plans.values())).toEqual(new Set(['second']));
    api.requests.splice(0);
    api.cut();
    api.secrets.restore(backup);
    await time.run(MINUTE_MS);
    expect(new Set(fleet.plans.values())).toEqual(new Set(['first']));
    expect(busiestSecond(api.requests)).toBeLessThanOrEqual(0.05 * AGENTS);
  });

  it.each<[string, SimulatedFault]>([
    ['is refused by 403', { kind: 'refused', status: 403 }],
    ['is refused for 30 s by 429', { kind: 'refused', status: 429, retryAfterS: 30 }],
    ['is refused by 500', { kind: 'refused', status: 500 }],
    ['ends at once', { kind: 'endsAtOnce' }],
    ['is reset', { kind: 'reset' }],
    ['is cut after a second', { kind: 'cutAfter', ms: 1000 }],
  ])('does not flood a server on which each watch %s', async (_what, fault) => {
    const { api, time } = fleet;
    api.faultOf = ({ verb }) => (verb === 'watch' ? fault : undefined);
    api.cut();
    await time.run(10 * MINUTE_MS);
    expect(busiestSecond(api.requests)).toBeLessThanOrEqual(0.05 * AGENTS);
    api.faultOf = () => undefined;
    const backAtMs = time.nowMs;
    await time.run(3 * MINUTE_MS);
    const waits = [...fleet.connectedAtMs.values()].map((atMs) => atMs - backAtMs);
    expect(waits).toHaveLength(AGENTS);
    expect(Math.max(...waits)).toBeLessThan(MINUTE_MS + 30_000);
  });
});
