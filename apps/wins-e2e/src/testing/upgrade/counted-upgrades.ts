import { setTimeout as delay } from 'node:timers/promises';
import { scrape, type Scrape } from '../scrape.js';

export interface CountedUpgrades {
  readonly upgraded: number;
  readonly rolledBack: number;
  readonly failed: number;
}

/** Scrapes until the daemon has counted `count` upgrades. Retries failed scrapes, because the service restarts. */
export async function countedUpgrades(address: string, count: number): Promise<CountedUpgrades> {
  for (;;) {
    const now = await scrape(address).catch((): Scrape => new Map());
    const of = (outcome: string): number =>
      now.get(`wins_upgrades_total{outcome="${outcome}"}`) ?? 0;
    const [upgraded, rolledBack, failed] = [of('upgraded'), of('rolledBack'), of('failed')];
    if (now.size > 0 && upgraded + rolledBack + failed >= count)
      return { upgraded, rolledBack, failed };
    await delay(20);
  }
}
