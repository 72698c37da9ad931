/** Sources that report other hosts. Each has a config key, and a private file with its last report. */
import {
  lastGood,
  metadataFeed,
  nodeFeed,
  Source,
  type DesiredPeer,
  type Feed,
  type SourceStatus,
} from '@wins/host-network';
import type { FileTrust } from '@wins/trusted-files';
import { rm } from 'node:fs/promises';
import { hostname, networkInterfaces } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { accessFileOf, readerOfNodes } from './node-access.js';
import type { NetworkSettings } from './network-settings.js';

export type SourceSettings = Pick<NetworkSettings, 'metadata' | 'nodes' | 'own'>;

export type SourceName = 'metadata' | 'nodes';

export interface NamedSourceStatus extends SourceStatus {
  readonly source: SourceName;
}

export interface PeerSourcesParts {
  /** Private folder of the sources' files. */
  readonly folder: string;
  readonly trust: FileTrust;
  /** Default: the addresses of this host, except loopback addresses. */
  readonly ownAddresses?: () => ReadonlySet<string>;
  /** Called when the peers or the state of a source change. */
  readonly onChange: (status: NamedSourceStatus) => void;
  readonly onWarning: (problem: string) => void;
}

interface Running {
  readonly settings: object;
  readonly source: Source;
}

const NAMES: readonly SourceName[] = ['metadata', 'nodes'];

export class PeerSources implements AsyncDisposable {
  readonly #parts: PeerSourcesParts;
  readonly #running = new Map<SourceName, Running>();
  #ending: Promise<unknown> = Promise.resolve();

  constructor(parts: PeerSourcesParts, settings: SourceSettings) {
    this.#parts = parts;
    this.configure(settings);
  }

  get peers(): readonly DesiredPeer[] {
    return this.statuses.flatMap(({ items }) => items);
  }

  /** True until all running sources have reported since their start. Until then, the daemon keeps existing routes to peers. */
  get holds(): boolean {
    return [...this.#running.values()].some(({ source }) => !source.hasSpoken);
  }

  get statuses(): readonly NamedSourceStatus[] {
    return [...this.#running].map(([name, { source }]) => ({ ...source.status, source: name }));
  }

  /** Turns sources on and off. A source with changed settings starts anew. */
  configure(settings: SourceSettings): void {
    for (const name of NAMES) {
      const wanted = settings[name] && { ...settings[name], ...ownSubnet(settings) };
      const running = this.#running.get(name);
      if (running !== undefined && isDeepStrictEqual(running.settings, wanted)) continue;
      this.#running.delete(name);
      this.#end(running, async () => {
        // The last report of this source must not count when the source is turned on again.
        if (wanted === undefined) await rm(this.#fileOf(name), { force: true });
      });
      if (wanted !== undefined)
        this.#running.set(name, { settings: wanted, source: this.#start(name, settings) });
    }
  }

  async close(): Promise<void> {
    for (const running of this.#running.values()) this.#end(running);
    await this.#ending;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #end(running: Running | undefined, then = () => Promise.resolve()): void {
    this.#ending = Promise.all([
      this.#ending,
      Promise.resolve(running?.source.close()).then(then),
    ]).catch((error: unknown) => this.#parts.onWarning(String(error)));
  }

  #start(name: SourceName, settings: SourceSettings): Source {
    const { trust, onChange, onWarning } = this.#parts;
    const { feed, origin } = feedOf(settings, name, this.#parts);
    const source: Source = new Source({
      feed,
      onWarning,
      lastGood: lastGood({
        path: this.#fileOf(name),
        origin,
        trust,
        onDamaged: (file) => onWarning(`${file} is damaged and is replaced`),
      }),
      onChange: () => {
        if (this.#running.get(name)?.source === source)
          onChange({ ...source.status, source: name });
      },
    });
    return source;
  }

  #fileOf(name: SourceName): string {
    return path.join(this.#parts.folder, `host-network-${name}.json`);
  }
}

function feedOf(
  settings: SourceSettings,
  name: SourceName,
  { trust, onWarning, ownAddresses = reachableAddresses }: PeerSourcesParts,
): { readonly feed: Feed; readonly origin: string } {
  const { metadata, nodes } = settings;
  const subnet = ownSubnet(settings);
  if (name === 'metadata' && metadata !== undefined) {
    const { address, environmentUuid, hostUuid } = metadata;
    const feed = metadataFeed({ ...metadata, ...subnet });
    return { feed, origin: [address, environmentUuid, hostUuid].join(' ') };
  }
  const reader = readerOfNodes(nodes ?? { isStrict: true }, { trust, onWarning });
  const feed = nodeFeed({ reader, ownAddresses, hostName: hostname(), ...subnet });
  return { feed, origin: accessFileOf(nodes) ?? '' };
}

/** Returns the subnet that a source must report for this host. */
function ownSubnet({ own }: SourceSettings): { readonly subnet?: string } {
  return own === undefined ? {} : { subnet: own.subnet };
}

function reachableAddresses(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return new Set(all.filter(({ internal }) => !internal).map(({ address }) => address));
}
