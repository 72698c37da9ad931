import { freePorts } from './tunnel/tunnel.js';

/** Samples of one scrape by series, such as `wins_runs{state="running"}`. */
export type Scrape = ReadonlyMap<string, number>;

/** Returns a free address for the metrics of a daemon, and the config that sets it. */
export async function freeMetrics() {
  const [port = 0] = await freePorts(1);
  const address = `127.0.0.1:${port}`;
  return { address, keys: { metrics: { listen: address } } };
}

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

/** Returns the growth of counters between two scrapes; unchanged counters are left out. */
export function growth(before: Scrape, after: Scrape): Readonly<Record<string, number>> {
  const grown = [...after]
    .filter(([series]) => /_total(?:\{|$)/.test(series))
    .map(([series, value]) => [series, value - (before.get(series) ?? 0)] as const)
    .filter(([, by]) => by !== 0);
  return Object.fromEntries(grown);
}

/** Counters that change in nearly every test: calls, connections, audit records, and processor time. */
const ORDINARY =
  /^(?:wins_(?:calls|connections|audit_records|run_cpu_seconds)_total|process_cpu_seconds_total)/;

/** Scrapes until a condition holds; the time limit of the test applies. */
export async function scrapeUntil(
  address: string,
  isReached: (now: Scrape) => boolean,
): Promise<Scrape> {
  for (;;) {
    const now = await scrape(address);
    if (isReached(now)) return now;
  }
}

/** Runs `cause` and waits until counters have grown as expected; returns the growth of all counters. */
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

/** Returns the growth without the ordinary counters. */
export function unusual(grown: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(grown).filter(([series]) => !ORDINARY.test(series)));
}
