import { QUIET_MS } from '../kubernetes/api-connection.js';
import { followSecret } from '../kubernetes/follow-secret.js';
import { NODES } from '../kubernetes/node-reader.js';
import { ObjectFollower, type FollowListener } from '../kubernetes/object-follower.js';
import type { WatchState } from '../ports.js';
import { SimulatedApi } from './simulated-api.js';
import { SimulatedTime } from './simulated-time.js';

const MINUTE_MS = 60_000;

/** Follows one collection at a simulated server. */
export class SimulatedFollower {
  readonly time = new SimulatedTime();
  readonly api = new SimulatedApi(this.time);
  /** Values that the follower knows, by name. */
  known: ReadonlyMap<string, string> = new Map();
  /** Messages of the failures that the follower reported. */
  readonly problems: string[] = [];
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(readonly kind: 'nodes' | 'secret') {
    this.change('first');
  }

  /** @param random - The only random number, from 0 to less than 1: 0 makes all waits and watches the shortest. */
  start(random: number): void {
    const connection = this.api.connect(0);
    const { signal } = this.#stop;
    const onState = (state: WatchState): void => {
      if (state.kind === 'waiting') this.problems.push(state.error.message);
    };
    const options = {
      connection,
      clock: this.time,
      startTimer: this.time.startTimer,
      random: () => random,
      answerMs: 30_000,
    };
    if (this.kind === 'nodes') {
      const nodes = new Map<string, string>();
      this.known = nodes;
      const listener: FollowListener<[string, string]> = {
        read: (object) => {
          const { metadata } = object as { readonly metadata: Record<'name' | 'value', string> };
          return [metadata.name, metadata.value];
        },
        onAll: (all) => {
          nodes.clear();
          for (const [name, value] of all) nodes.set(name, value);
        },
        onChange: (type, [name, value]) =>
          type === 'DELETED' ? nodes.delete(name) : nodes.set(name, value),
        onContact: () => undefined,
        onState,
      };
      this.#running = new ObjectFollower(NODES, options).run(listener, signal);
    } else {
      const told = {
        onContact: () => undefined,
        onState,
        onSecret: (secret: { readonly data: Readonly<Record<string, Buffer>> } | undefined) => {
          this.known = new Map([['one', secret?.data['value']?.toString() ?? '']]);
        },
      };
      const name = { namespace: 'fleet', secretName: 'one' };
      this.#running = followSecret(name, { ...options, quietMs: QUIET_MS }, told, signal);
    }
  }

  change(value: string): void {
    const { nodes, secrets } = this.api;
    if (this.kind === 'nodes') {
      nodes.put({ metadata: { name: 'one', value } });
      return;
    }
    const data = { value: Buffer.from(value).toString('base64') };
    const draft = { metadata: { namespace: 'fleet', name: 'one' }, data };
    if (secrets.find('fleet', 'one') === undefined) secrets.create(draft, 'test');
    else secrets.replace(draft, 'test');
  }

  /** Returns the time until the follower knows the value. */
  async noticeMs(value: string, mostMs: number): Promise<number> {
    const startMs = this.time.nowMs;
    while (this.known.get('one') !== value && this.time.nowMs - startMs < mostMs)
      await this.time.run(100);
    return this.time.nowMs - startMs;
  }

  /** Returns the number of lists within a minute. */
  lists(fromMs: number): number {
    return this.#listsAtMs().filter((atMs) => isInMinute(atMs, fromMs)).length;
  }

  /** Returns the starts of the minutes that had more lists, to the second. The first and the last minute are left out. */
  busyMinutes(mostLists: number): number[] {
    const lists = this.#listsAtMs();
    const busy: number[] = [];
    for (let fromMs = MINUTE_MS; fromMs < this.time.nowMs - MINUTE_MS; fromMs += 1_000)
      if (lists.filter((atMs) => isInMinute(atMs, fromMs)).length > mostLists) busy.push(fromMs);
    return busy;
  }

  #listsAtMs(): number[] {
    return this.api.requests.flatMap(({ atMs, verb }) => (verb === 'list' ? [atMs] : []));
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

function isInMinute(atMs: number, fromMs: number): boolean {
  return atMs >= fromMs && atMs < fromMs + MINUTE_MS;
}
