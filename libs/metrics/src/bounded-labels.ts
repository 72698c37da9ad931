import { escapeText } from '@wins/wins-program';
import { mostSeriesOf, type LabelValues, type MetricDefinition } from './metric-table.js';

/** What any value is told as that has no room. */
export const OTHER = 'other';
const MOST_CHARACTERS = 64;

/** The labels of one sample. */
export type Labels = Readonly<Record<string, string>>;

/**
 * Keeps the labels of one metric within its bounds, whatever they are given: values of a list, or the first so many; of combinations the
 * first so many. What was told once stays, as counters must.
 */
export class BoundedLabels {
  readonly #definition: MetricDefinition;
  readonly #known = new Map<string, Set<string>>();
  readonly #series = new Set<string>();
  readonly #mostSeries: number;

  constructor(definition: MetricDefinition) {
    this.#definition = definition;
    // One is for all others.
    this.#mostSeries = mostSeriesOf(definition) - 1;
  }

  of(labels: Labels): Labels {
    const names = Object.entries(this.#definition.labels);
    if (names.length === 0) return labels;
    const bounded = Object.fromEntries(
      names.map(([name, values]) => [name, this.#valueOf(name, values, labels[name] ?? OTHER)]),
    );
    const key = JSON.stringify(bounded);
    if (this.#series.has(key)) return bounded;
    if (this.#series.size >= this.#mostSeries)
      return Object.fromEntries(names.map(([name]) => [name, OTHER]));
    this.#series.add(key);
    return bounded;
  }

  #valueOf(name: string, values: LabelValues, value: string): string {
    if (typeof values !== 'number') return values.includes(value) ? value : OTHER;
    const text = escapeText(value, { maxLength: MOST_CHARACTERS });
    const known = this.#known.get(name) ?? new Set();
    this.#known.set(name, known);
    if (known.has(text)) return text;
    if (known.size >= values) return OTHER;
    known.add(text);
    return text;
  }
}
