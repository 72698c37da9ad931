import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { setTimeout as delay } from 'node:timers/promises';
import type { MetricDefinition, Metrics, MetricTable } from '../../kernel/metrics.js';

const REST_MS = 100;
const BUCKETS_SECONDS = [0.005, 0.025, 0.1, 0.5, 2.5, 10];

type Labels = Readonly<Record<string, string>>;
type Reader = () => Iterable<readonly [Labels, number]>;

/** Label values are typed, so that clients cannot create series through their input. */
export class MetricRegistry<Table extends MetricTable> implements Metrics<Table> {
  readonly #table: Table;
  readonly #registry = new Registry();
  readonly #counters = new Map<PropertyKey, Counter>();
  readonly #histograms = new Map<PropertyKey, Histogram>();
  readonly #readers = new Map<PropertyKey, Reader>();
  readonly #refreshes: (() => Promise<void>)[] = [];
  /** The collection that the next call gets. It waits for `#gathering`, the one under way. */
  #collecting: Promise<string> | undefined;
  #gathering: Promise<unknown> = Promise.resolve();
  #collectedAt = -Infinity;

  constructor(table: Table) {
    this.#table = table;
    for (const [name, definition] of Object.entries(table)) this.#define(name, definition);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  count: Metrics<Table>['count'] = (name, ...[labels]) => {
    this.#counters.get(name)?.inc(labels ?? {});
  };

  begin: Metrics<Table>['begin'] = (name, labels) => {
    for (const each of closedLabels(this.#table[name]?.labels ?? {}, labels))
      this.#counters.get(name)?.inc(each, 0);
  };

  observe: Metrics<Table>['observe'] = (name, labels, seconds) => {
    this.#histograms.get(name)?.observe(labels, seconds);
  };

  read: Metrics<Table>['read'] = (name, samples) => {
    this.#readers.set(name, samples);
  };

  refresh(before: () => Promise<void>): void {
    this.#refreshes.push(before);
  }

  /** Collections are one at a time, begin at least 100 ms apart and are shared, so that the load does not depend on the number of calls. */
  text(): Promise<string> {
    return (this.#collecting ??= this.#collect());
  }

  async #collect(): Promise<string> {
    await this.#gathering;
    await delay(Math.max(0, this.#collectedAt + REST_MS - performance.now()));
    this.#collectedAt = performance.now();
    this.#collecting = undefined;
    const text = this.#gather();
    this.#gathering = text.catch(() => undefined);
    return text;
  }

  async #gather(): Promise<string> {
    await Promise.all(this.#refreshes.map((before) => before()));
    return this.#registry.metrics();
  }

  #define(name: string, { type, help, labels }: MetricDefinition): void {
    const registry = this.#registry;
    const definition = { name, help, labelNames: Object.keys(labels), registers: [registry] };
    const samples = (): readonly (readonly [Labels, number])[] | undefined => this.#samples(name);
    switch (type) {
      case 'counter': {
        const collect = function (this: Counter): void {
          const now = samples();
          if (now === undefined) return;
          this.reset();
          for (const [each, value] of now) this.inc(each, Math.max(0, value));
        };
        const counter = new Counter({ ...definition, collect });
        this.#counters.set(name, counter);
        const isOpen = Object.values(labels).some((values) => 'what' in values);
        // Creates each series at zero, as `begin` does.
        if (!isOpen) for (const each of closedLabels(labels, {})) counter.inc(each, 0);
        return;
      }
      case 'gauge': {
        const collect = function (this: Gauge): void {
          const now = samples();
          if (now === undefined) return;
          this.reset();
          // `reset` sets a gauge without labels to zero. A gauge without samples must be absent.
          if (now.length === 0 && definition.labelNames.length === 0) this.remove();
          for (const [each, value] of now) this.inc(each, value);
        };
        new Gauge({ ...definition, collect });
        return;
      }
      case 'histogram':
        this.#histograms.set(name, new Histogram({ ...definition, buckets: BUCKETS_SECONDS }));
    }
  }

  /** Returns undefined for a metric without a reader. */
  #samples(name: string): readonly (readonly [Labels, number])[] | undefined {
    try {
      const read = this.#readers.get(name);
      return read && [...read()].filter(([, value]) => Number.isFinite(value));
    } catch {
      return [];
    }
  }
}

/** Returns `given` with each combination of values of the other labels that have a fixed list. */
function closedLabels(labels: MetricDefinition['labels'], given: Labels): readonly Labels[] {
  let combinations: readonly Labels[] = [given];
  for (const [name, values] of Object.entries(labels)) {
    if ('what' in values || name in given) continue;
    combinations = combinations.flatMap((one) =>
      values.map((value) => ({ ...one, [name]: value })),
    );
  }
  return combinations;
}
