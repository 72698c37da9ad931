import { reporter, Serial } from '@wins/base';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { DesiredPeer } from '../plan/judge-peers.js';
import type { PrivateFileOptions } from '../private-file.js';
import { lastGood } from './last-good.js';
import { Source, type Feed, type SourceStatus } from './source.js';

/** A source of other hosts that should run. */
export interface WantedSource {
  /** A source with changed settings starts anew. */
  readonly settings: object;
  /** Opens the feed. `origin` identifies where it leads: the last report of another origin is ignored. */
  readonly open: () => { readonly feed: Feed; readonly origin: string };
}

/** State of a source, with its name. */
export interface NamedSourceStatus<Name extends string = string> extends SourceStatus {
  readonly source: Name;
}

/** Options of a {@link SourceSet}. */
export interface SourceSetOptions<Name extends string> extends Pick<PrivateFileOptions, 'trust'> {
  /** Absolute path of a private folder, which is created. It gets one file with the last report of each source. */
  readonly folder: string;
  /** Called when the peers or the state of a source change. */
  readonly onChange: (status: NamedSourceStatus<Name>) => unknown;
  readonly onWarning: (problem: string) => unknown;
}

/** Runs the sources that report other hosts, by name, and merges their reports. */
export class SourceSet<Name extends string> implements AsyncDisposable {
  readonly #options: SourceSetOptions<Name>;
  readonly #running = new Map<Name, { readonly settings: object; readonly source: Source }>();
  readonly #ends = new Serial();

  constructor(options: SourceSetOptions<Name>) {
    this.#options = {
      ...options,
      onChange: reporter(options.onChange),
      onWarning: reporter(options.onWarning),
    };
  }

  get peers(): readonly DesiredPeer[] {
    return this.statuses.flatMap(({ items }) => items);
  }

  /** True until all running sources have reported since their start. Until then, keep existing routes to peers. */
  get holds(): boolean {
    return [...this.#running.values()].some(({ source }) => !source.hasSpoken);
  }

  get statuses(): readonly NamedSourceStatus<Name>[] {
    return [...this.#running].map(([name, { source }]) => ({ ...source.status, source: name }));
  }

  /** Turns sources on and off. */
  configure(wanted: ReadonlyMap<Name, WantedSource>): void {
    for (const [name, { settings, source }] of this.#running) {
      const next = wanted.get(name);
      if (next !== undefined && isDeepStrictEqual(settings, next.settings)) continue;
      this.#running.delete(name);
      // The last report of a source must not count when the source is turned on again.
      this.#end(source, next === undefined ? this.#fileOf(name) : undefined);
    }
    for (const [name, { settings, open }] of wanted)
      if (!this.#running.has(name))
        this.#running.set(name, { settings, source: this.#start(name, open()) });
  }

  async close(): Promise<void> {
    for (const { source } of this.#running.values()) this.#end(source);
    await this.#ends.idle();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #end(source: Source, file?: string): void {
    const end = async (): Promise<void> => {
      await source.close();
      if (file !== undefined) await rm(file, { force: true });
    };
    // Begins at once, and handles a failure even while earlier sources still end.
    const ended = end().catch((error: unknown) => this.#options.onWarning(String(error)));
    void this.#ends.run(() => ended);
  }

  #start(name: Name, { feed, origin }: ReturnType<WantedSource['open']>): Source {
    const { trust, onChange, onWarning } = this.#options;
    const onDamaged = (file: string) => onWarning(`${file} is damaged and is replaced`);
    const kept = lastGood({ path: this.#fileOf(name), origin, trust, onDamaged });
    // An earlier source of this name may still write or remove the file.
    const ended = this.#ends.run(() => undefined);
    const source: Source = new Source({
      feed,
      onWarning,
      lastGood: { ...kept, read: () => ended.then(() => kept.read()) },
      onChange: () => {
        if (this.#running.get(name)?.source === source)
          onChange({ ...source.status, source: name });
      },
    });
    return source;
  }

  #fileOf(name: Name): string {
    return path.join(this.#options.folder, `host-network-${name}.json`);
  }
}
