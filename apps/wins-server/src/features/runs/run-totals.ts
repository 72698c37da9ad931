import type { Samples } from '../metrics/metric-registry.js';
import type { EntryName, ManagerEvent, Measurement, RunFigures } from '@wins/process-manager';

/** Total use of all runs of a name; the parts of {@link RunFigures} that only grow. */
interface Totals {
  cpuMs: number;
  stdoutBytes: number;
  stderrBytes: number;
  pauses: number;
}

type Part = keyof Totals;

/** Sums the resource use of runs by entry name: ended runs by their events, the others by their measurements. */
export class RunTotals {
  readonly #ended = new Map<EntryName, Totals>();
  /** Last reported totals, because Prometheus takes a counter that decreases for a restart. */
  readonly #told = new Map<EntryName, Totals>();
  #memoryBytes = new Map<EntryName, number>();

  ended({ entry, figures }: Extract<ManagerEvent, { readonly type: 'ended' }>): void {
    add(totalsIn(this.#ended, entry), figures);
  }

  measured({ runs }: Measurement): void {
    const now = new Map([...this.#ended].map(([entry, totals]) => [entry, { ...totals }]));
    this.#memoryBytes = new Map();
    for (const { run, figures } of runs) {
      // An ended run is already counted, or will be in this turn.
      if (run.state.kind === 'ended') continue;
      const { entry } = run;
      add(totalsIn(now, entry), figures);
      const memoryBytes = this.#memoryBytes.get(entry) ?? 0;
      this.#memoryBytes.set(entry, memoryBytes + (figures.usage?.memoryBytes ?? 0));
    }
    for (const [entry, totals] of now) raise(totalsIn(this.#told, entry), totals);
  }

  /** @param scale - Source units per unit of the metric. */
  *samples(part: Part, scale = 1): Samples<'wins_run_cpu_seconds_total'> {
    for (const [entry, totals] of this.#told) yield [{ entry }, totals[part] / scale];
  }

  *output(): Samples<'wins_run_output_bytes_total'> {
    for (const [entry, { stdoutBytes, stderrBytes }] of this.#told) {
      yield [{ entry, stream: 'stdout' }, stdoutBytes];
      yield [{ entry, stream: 'stderr' }, stderrBytes];
    }
  }

  *memory(): Samples<'wins_run_memory_bytes'> {
    for (const [entry, bytes] of this.#memoryBytes) yield [{ entry }, bytes];
  }
}

function totalsIn(map: Map<EntryName, Totals>, entry: EntryName): Totals {
  const known = map.get(entry) ?? { cpuMs: 0, stdoutBytes: 0, stderrBytes: 0, pauses: 0 };
  map.set(entry, known);
  return known;
}

function add(totals: Totals, { usage, output }: RunFigures): void {
  totals.cpuMs += usage?.cpuMs ?? 0;
  totals.stdoutBytes += output.stdoutBytes;
  totals.stderrBytes += output.stderrBytes;
  totals.pauses += output.pauses;
}

function raise(told: Totals, now: Totals): void {
  for (const part of Object.keys(told) as Part[]) told[part] = Math.max(told[part], now[part]);
}
