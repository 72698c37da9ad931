/** Metrics of Prometheus: features declare theirs in tables, whose types the registry keeps. */
export type MetricType = 'counter' | 'gauge' | 'histogram';

/** Label values without a fixed list. A narrow type `Value` excludes plain strings, so text from a client cannot become a label. */
export interface TypedValues<Value extends string = string> {
  readonly what: string;
  readonly value?: Value;
}

type LabelValues = readonly string[] | TypedValues;

type Labelled = Readonly<Record<string, LabelValues>>;

export interface MetricDefinition<
  Type extends MetricType = MetricType,
  Labels extends Labelled = Labelled,
> {
  readonly type: Type;
  readonly help: string;
  readonly labels: Labels;
}

const metricOf =
  <Type extends MetricType>(type: Type) =>
  <const Labels extends Labelled = Readonly<Record<string, never>>>(
    help: string,
    labels?: Labels,
  ): MetricDefinition<Type, Labels> => ({ type, help, labels: labels ?? ({} as Labels) });
export const counter = metricOf('counter');
export const gauge = metricOf('gauge');
export const histogram = metricOf('histogram');
export const typed = <Value extends string>(what: string): TypedValues<Value> => ({ what });

/** Definitions of metrics, by name. */
export type MetricTable = Readonly<Record<string, MetricDefinition>>;

type NamesOf<Table, Type> = {
  [Name in keyof Table]: Table[Name] extends { readonly type: Type } ? Name : never;
}[keyof Table];

type ValueOf<Values> = Values extends readonly (infer Value extends string)[]
  ? Value
  : Values extends TypedValues<infer Value>
    ? Value
    : never;

type LabelsOf<Table extends MetricTable, Name extends keyof Table> = {
  readonly [Label in keyof Table[Name]['labels']]: ValueOf<Table[Name]['labels'][Label]>;
};

/** Labels whose values have no fixed list. */
type OpenLabelsOf<Table extends MetricTable, Name extends keyof Table> = {
  readonly [
    Label in keyof Table[Name]['labels'] as Table[Name]['labels'][Label] extends TypedValues
      ? Label
      : never
  ]: ValueOf<Table[Name]['labels'][Label]>;
};

/** The registry sums values with equal labels. */
export type Samples<Table extends MetricTable, Name extends keyof Table> = Iterable<
  readonly [labels: LabelsOf<Table, Name>, value: number]
>;

export interface AnyMetrics {
  /** Each collection awaits `before`, which must not reject. */
  refresh(before: () => Promise<void>): void;
}

export interface Metrics<Table extends MetricTable> extends AnyMetrics {
  count<Name extends NamesOf<Table, 'counter'>>(
    name: Name,
    ...[labels]: string extends keyof LabelsOf<Table, Name> ? [] : [labels: LabelsOf<Table, Name>]
  ): void;
  /**
   * Creates series at zero, because Prometheus does not treat the appearance of a series as an increase. A label with a fixed list may be absent; each
   * of its values then gets a series. Counters that have only such labels begin by themselves.
   */
  begin<Name extends NamesOf<Table, 'counter'>>(
    name: Name,
    labels: OpenLabelsOf<Table, Name> & Partial<LabelsOf<Table, Name>>,
  ): void;
  observe<Name extends NamesOf<Table, 'histogram'>>(
    name: Name,
    labels: LabelsOf<Table, Name>,
    seconds: number,
  ): void;
  /** If the reader throws, the metric has no samples in that scrape. Values that are not finite numbers are left out. */
  read<Name extends NamesOf<Table, 'counter' | 'gauge'>>(
    name: Name,
    samples: () => Samples<Table, Name>,
  ): void;
}
