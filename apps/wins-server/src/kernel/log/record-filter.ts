import { SET_LEVELS } from './logger.js';

/** Options by which commands choose among the records of a log, the audit log, or the events. */
export interface FilterOptions {
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  /** Number of the newest records. */
  readonly lines?: number | undefined;
  readonly type?: readonly string[] | undefined;
  readonly name?: string | undefined;
  readonly client?: string | undefined;
  readonly refused?: boolean | undefined;
  /** Least severity. */
  readonly level?: (typeof SET_LEVELS)[number] | undefined;
}

/** From the least to the most severe. */
const SEVERITIES: readonly unknown[] = [...SET_LEVELS, 'fatal'];

/** A record has `type`, `kind` or `level`, and facts. */
export interface FilteredRecord {
  /** ISO 8601, UTC with milliseconds. */
  readonly time: string;
  readonly [fact: string]: unknown;
}

/** Facts that may be the name of a run or of a program. */
const NAMES = ['name', 'label', 'runName', 'about'] as const;

export class RecordFilter {
  readonly since: Date | undefined;
  readonly lines: number | undefined;
  /** True if a period was given. */
  readonly hasPeriod: boolean;
  readonly #options: FilterOptions;
  readonly #from: string;
  readonly #to: string | undefined;

  constructor(options: FilterOptions) {
    const { since, until, lines } = options;
    this.#options = options;
    this.since = since;
    this.lines = lines;
    this.hasPeriod = since !== undefined || until !== undefined;
    this.#from = since?.toISOString() ?? '';
    this.#to = until?.toISOString();
  }

  accepts(record: FilteredRecord): boolean {
    const { type = [], name, client, refused = false, level } = this.#options;
    const { time } = record;
    if (time < this.#from || (this.#to !== undefined && time >= this.#to)) return false;
    if (type.length > 0 && !type.includes(String(record['type'] ?? record['kind']))) return false;
    if (name !== undefined && !NAMES.some((fact) => record[fact] === name)) return false;
    if (client !== undefined && !isOf(record, client)) return false;
    if (refused && !isRefusal(record)) return false;
    return level === undefined || SEVERITIES.indexOf(record['level']) >= SEVERITIES.indexOf(level);
  }

  /** Yields the accepted records, some at a time. With `lines`, yields only the newest, once `records` has ended. */
  async *choose<Record extends FilteredRecord>(
    records: AsyncIterable<readonly Record[]>,
  ): AsyncGenerator<readonly Record[]> {
    const newest: Record[] = [];
    for await (const some of records) {
      newest.push(...some.filter((record) => this.accepts(record)));
      if (this.lines === undefined) yield newest.splice(0);
      else newest.splice(0, newest.length - this.lines);
    }
    yield newest;
  }
}

/** Compares with the requester, and with each value that describes the client. In events, this description is one text. */
function isOf({ requester, client: described }: FilteredRecord, client: string): boolean {
  if (requester === client) return true;
  const parts =
    typeof described === 'string'
      ? described.split(' ')
      : Object.entries(described ?? {}).map(String);
  return parts.some((part) => part === client || /[=,](.*)$/.exec(part)?.[1] === client);
}

function isRefusal({ verdict, type, kind }: FilteredRecord): boolean {
  return verdict === 'refused' || String(type ?? kind).endsWith('Refused');
}
