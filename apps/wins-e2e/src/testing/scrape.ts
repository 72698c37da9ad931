import { freePorts } from './tunnel/tunnel.js';

/** Value of each series, such as `wins_runs{state="running"}`. */
export type Scrape = ReadonlyMap<string, number>;

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

/** Returns how much each counter has grown; leaves out unchanged ones. */
export function growth(before: Scrape, after: Scrape): Readonly<Record<string, number>> {
  const grown = [...after]
    .filter(([series]) => /_total(?:\{|$)/.test(series))
    .map(([series, value]) => [series, value - (before.get(series) ?? 0)] as const)
    .filter(([, by]) => by !== 0);
  return Object.fromEntries(grown);
}

/** Counters that change in nearly every test. */
const ORDINARY =
  /^(?:wins_(?:calls|connections|audit_records|run_cpu_seconds)_total|process_cpu_seconds_total)/;

export async function scrapeUntil(
  address: string,
  isReached: (now: Scrape) => boolean,
): Promise<Scrape> {
  for (;;) {
    const now = await scrape(address);
    if (isReached(now)) return now;
  }
}

/** Runs `cause` and waits until the expected counters have grown; returns the growth of all counters. */
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

export function unusual(grown: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(grown).filter(([series]) => !ORDINARY.test(series)));
}
