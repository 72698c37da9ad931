/** The samples of one scrape, by their series as the text has it: `wins_runs{state="running"}`. */
export type Scrape = ReadonlyMap<string, number>;

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
