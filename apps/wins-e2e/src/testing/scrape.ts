import { freePorts } from './tunnel/tunnel.js';

/** The samples of one scrape, by their series as the text has it: `wins_runs{state="running"}`. */
export type Scrape = ReadonlyMap<string, number>;

/** An address for the metrics of a daemon, and the key of its config for it. */
export async function freeMetrics() {
  const [port = 0] = await freePorts(1);
  const address = `127.0.0.1:${port}`;
  return { address, keys: { metrics: { listen: address } } };
}

/** Scrapes the metrics of a daemon over HTTP. */
export async function scrape(address: string): Promise<Scrape> {
  const answer = await fetch(`http://${address}/metrics`);
  if (answer.status !== 200) throw new Error(`the scrape was answered with ${answer.status}`);
  return parseScrape(await answer.text());
}

/** Reads the text format of Prometheus. */
export function parseScrape(text: string): Scrape {
  const samples = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1))] as const;
    });
  return new Map(samples);
}

/** How counters have grown from one scrape to another; those that have not are left out. */
export function growth(before: Scrape, after: Scrape): Readonly<Record<string, number>> {
  const grown = [...after]
    .filter(([series]) => /_total(?:\{|$)/.test(series))
    .map(([series, value]) => [series, value - (before.get(series) ?? 0)] as const)
    .filter(([, by]) => by !== 0);
  return Object.fromEntries(grown);
}

/** Counters that nearly everything moves: calls, their connections, records, and the processor time of all. */
const ORDINARY =
  /^(?:wins_(?:calls|connections|audit_records|run_cpu_seconds)_total|process_cpu_seconds_total)/;

/** Scrapes until it is as it should be; the test's own time limit bounds it. */
export async function scrapeUntil(
  address: string,
  isReached: (now: Scrape) => boolean,
): Promise<Scrape> {
  for (;;) {
    const now = await scrape(address);
    if (isReached(now)) return now;
  }
}

/** Does something, and gives how the counters have grown once these have grown by so much. */
export async function growthBy(
  address: string,
  cause: () => Promise<unknown>,
  expected: Readonly<Record<string, number>>,
): Promise<Readonly<Record<string, number>>> {
  const before = await scrape(address);
  await cause();
  const after = await scrapeUntil(address, (now) => {
    const grown = growth(before, now);
    return Object.entries(expected).every(([series, by]) => (grown[series] ?? 0) >= by);
  });
  return growth(before, after);
}

/** Returns the growth without the counters that nearly everything moves. */
export function unusual(grown: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(grown).filter(([series]) => !ORDINARY.test(series)));
}
