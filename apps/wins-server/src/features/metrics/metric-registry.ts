import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { setTimeout as delay } from 'node:timers/promises';
import {
  BUCKETS_SECONDS,
  METRICS,
  type LabelsOf,
  type MetricDefinition,
  type MetricName,
} from './metric-table.js';

const REST_MS = 100;

/** The registry sums values with equal labels. */
export type Samples<Name extends MetricName> = Iterable<
  readonly [labels: LabelsOf<Name>, value: number]
>;

type Labels = Readonly<Record<string, string>>;

type OfType<Type> = {
  [Name in MetricName]: (typeof METRICS)[Name]['type'] extends Type ? Name : never;
}[MetricName];

/** Label values are typed, so that clients cannot create series through their input. */
export class MetricRegistry {
  readonly #registry = new Registry();
  readonly #counters = new Map<MetricName, Counter>();
  readonly #histograms = new Map<MetricName, Histogram>();
  readonly #readers = new Map<MetricName, (() => Iterable<readonly [Labels, number]>)[]>();
  readonly #refreshes: (() => Promise<void>)[] = [];
  #collecting: Promise<string> | undefined;
  #collectedAt = -Infinity;

  constructor() {
    for (const [name, definition] of Object.entries(METRICS) as [MetricName, MetricDefinition][])
      this.#define(name, definition);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  count<Name extends OfType<'counter'>>(
    name: Name,
    ...[labels]: string extends keyof LabelsOf<Name> ? [] : [labels: LabelsOf<Name>]
  ): void {
    this.#counters.get(name)?.inc(labels ?? {});
  }

  /** Creates a series at zero, because Prometheus does not treat the appearance of a series as an increase. */
  begin<Name extends OfType<'counter'>>(name: Name, labels: LabelsOf<Name>): void {
    this.#counters.get(name)?.inc(labels, 0);
  }

  observe<Name extends OfType<'histogram'>>(name: Name, labels: LabelsOf<Name>, seconds: number) {
    this.#histograms.get(name)?.observe(labels, seconds);
  }

  /** Adds a reader; several may share a metric. If one throws, the metric has no samples in that scrape. Leaves out values that are not finite. */
  read<Name extends OfType<'counter' | 'gauge'>>(name: Name, samples: () => Samples<Name>): void {
    this.#readers.set(name, [...(this.#readers.get(name) ?? []), samples]);
  }

  /** Each collection awaits `before`, which must not reject. */
  refresh(before: () => Promise<void>): void {
    this.#refreshes.push(before);
  }

  /** Collections are at least 100 ms apart and shared, so that the load does not depend on the number of calls. */
  text(): Promise<string> {
    return (this.#collecting ??= this.#collect());
  }

  async #collect(): Promise<string> {
    await delay(Math.max(0, this.#collectedAt + REST_MS - performance.now()));
    this.#collectedAt = performance.now();
    this.#collecting = undefined;
    await Promise.all(this.#refreshes.map((before) => before()));
    return this.#registry.metrics();
  }

  #define(name: MetricName, { type, help, labels }: MetricDefinition): void {
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
        // Creates each series at zero, as `begin` does.
        for (const each of closedLabels(labels)) counter.inc(each, 0);
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
        this.#histograms.set(name, new Histogram({ ...definition, buckets: [...BUCKETS_SECONDS] }));
    }
  }

  /** Returns undefined for a metric without a reader. */
  #samples(name: MetricName): readonly (readonly [Labels, number])[] | undefined {
    try {
      const all = this.#readers.get(name);
      return all?.flatMap((read) => [...read()]).filter(([, value]) => Number.isFinite(value));
    } catch {
      return [];
    }
  }
}

function closedLabels(labels: MetricDefinition['labels']): readonly Labels[] {
  let combinations: readonly Labels[] = [{}];
  for (const [name, values] of Object.entries(labels)) {
    if ('what' in values) return [];
    combinations = combinations.flatMap((one) =>
      values.map((value) => ({ ...one, [name]: value })),
    );
  }
  return combinations;
}
