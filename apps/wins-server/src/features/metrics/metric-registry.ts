import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { setTimeout as delay } from 'node:timers/promises';
import { BoundedLabels, type Labels } from './bounded-labels.js';
import {
  BUCKETS_SECONDS,
  METRICS,
  type MetricDefinition,
  type MetricName,
} from './metric-table.js';

/** Between two collections, in milliseconds. */
const REST_MS = 100;

const NO_LABELS: Labels = {};

/** What a metric is at the moment: one number for each combination of labels. */
export type Samples = Iterable<readonly [labels: Labels, value: number]>;

type OfType<Type> = {
  [Name in MetricName]: (typeof METRICS)[Name]['type'] extends Type ? Name : never;
}[MetricName];

/**
 * The numbers of all metrics of {@link METRICS}. Labels are bounded here, so that nobody can make series without end by what they send.
 */
export class MetricRegistry {
  readonly #registry = new Registry();
  readonly #labels = new Map<MetricName, BoundedLabels>();
  readonly #counters = new Map<MetricName, Counter>();
  readonly #histograms = new Map<MetricName, Histogram>();
  readonly #readers = new Map<MetricName, () => Samples>();
  readonly #refreshes: (() => Promise<void>)[] = [];
  #collecting: Promise<string> | undefined;
  #collectedAt = -Infinity;

  constructor() {
    for (const [name, definition] of Object.entries(METRICS) as [MetricName, MetricDefinition][])
      this.#define(name, definition);
  }

  /** The type of what {@link text} gives. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Counts what has happened. */
  count(name: OfType<'counter'>, labels: Labels = {}, by = 1): void {
    this.#counters.get(name)?.inc(this.#bounded(name, labels), by);
  }

  /** Adds how long something took. */
  observe(name: OfType<'histogram'>, labels: Labels, seconds: number): void {
    this.#histograms.get(name)?.observe(this.#bounded(name, labels), seconds);
  }

  /**
   * Asks for the samples of a metric whenever it is scraped; samples that end up with the same labels are added. One that throws, or gives
   * what is no number, has no samples in that scrape.
   */
  read(name: OfType<'counter' | 'gauge'>, samples: () => Samples): void {
    this.#readers.set(name, samples);
  }

  /** Waits for this before each collection, for samples that take a moment. It must not reject. */
  refresh(before: () => Promise<void>): void {
    this.#refreshes.push(before);
  }

  /**
   * All metrics in the text format of Prometheus, as they are after the call. Collections are 100 ms apart, and all who ask in between
   * get the next one: however many ask, the work is the same.
   */
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
    const samples = (): ReadonlyMap<Labels, number> | undefined => this.#samples(name);
    this.#labels.set(name, new BoundedLabels(METRICS[name]));
    switch (type) {
      case 'counter': {
        const collect = function (this: Counter): void {
          const now = samples();
          if (now === undefined) return;
          this.reset();
          for (const [bounded, value] of now) this.inc(bounded, Math.max(0, value));
        };
        const counter = new Counter({ ...definition, collect });
        this.#counters.set(name, counter);
        // What increases from nothing to 1 is no increase for Prometheus.
        for (const each of closedLabels(labels)) counter.inc(each, 0);
        return;
      }
      case 'gauge': {
        const collect = function (this: Gauge): void {
          const now = samples();
          if (now === undefined) return;
          this.reset();
          // Without labels a reset is a zero, and what cannot be told must be absent.
          if (now.size === 0 && definition.labelNames.length === 0) this.remove();
          for (const [bounded, value] of now) this.set(bounded, value);
        };
        new Gauge({ ...definition, collect });
        return;
      }
      case 'histogram':
        this.#histograms.set(name, new Histogram({ ...definition, buckets: [...BUCKETS_SECONDS] }));
    }
  }

  #bounded(name: MetricName, labels: Labels): Labels {
    return this.#labels.get(name)?.of(labels) ?? NO_LABELS;
  }

  /** Undefined for a metric that nobody reads. */
  #samples(name: MetricName): ReadonlyMap<Labels, number> | undefined {
    const read = this.#readers.get(name);
    if (read === undefined) return undefined;
    // The same combination is the same object.
    const sums = new Map<Labels, number>();
    try {
      for (const [labels, value] of read()) {
        if (!Number.isFinite(value)) continue;
        const bounded = this.#bounded(name, labels);
        sums.set(bounded, (sums.get(bounded) ?? 0) + value);
      }
    } catch {
      return new Map();
    }
    return sums;
  }
}

/** Every combination of labels whose values are all known; none when some are not. */
function closedLabels(labels: MetricDefinition['labels']): readonly Labels[] {
  let combinations: readonly Labels[] = [{}];
  for (const [name, values] of Object.entries(labels)) {
    if (typeof values === 'number') return [];
    combinations = combinations.flatMap((one) =>
      values.map((value) => ({ ...one, [name]: value })),
    );
  }
  return combinations;
}
