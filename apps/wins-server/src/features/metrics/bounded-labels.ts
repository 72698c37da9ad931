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
  readonly #labels: readonly (readonly [name: string, values: LabelValues])[];
  readonly #known = new Map<string, Set<string>>();
  readonly #series = new Map<string, Labels>();
  readonly #others: Labels;
  readonly #mostSeries: number;

  constructor(definition: MetricDefinition) {
    this.#labels = Object.entries(definition.labels);
    this.#others = Object.fromEntries(this.#labels.map(([name]) => [name, OTHER]));
    this.#series.set(this.#labels.map(() => `${OTHER}\n`).join(''), this.#others);
    this.#mostSeries = mostSeriesOf(definition);
  }

  /** The labels that are told. For one combination it is always the same object. */
  of(labels: Labels): Labels {
    let key = '';
    for (const [name, values] of this.#labels)
      key += `${this.#valueOf(name, values, labels[name] ?? OTHER)}\n`;
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    if (this.#series.size >= this.#mostSeries) return this.#others;
    // No value has a line feed.
    const told = key.split('\n');
    const bounded = Object.fromEntries(
      this.#labels.map(([name], index) => [name, told[index] ?? OTHER]),
    );
    this.#series.set(key, bounded);
    return bounded;
  }

  #valueOf(name: string, values: LabelValues, value: string): string {
    if (typeof values !== 'number') return values.includes(value) ? value : OTHER;
    if (value === OTHER) return OTHER;
    const known = this.#known.get(name) ?? new Set();
    this.#known.set(name, known);
    if (known.has(value)) return value;
    const text = escapeText(value, { maxLength: MOST_CHARACTERS });
    if (known.has(text)) return text;
    if (known.size >= values) return OTHER;
    known.add(text);
    return text;
  }
}
