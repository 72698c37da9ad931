import type { Reported } from '../kernel/conditions/condition.js';
import { withoutQuotedConfig, type SupportSource } from './support-source.js';
import { pageFacts } from './page/page-facts.js';
import { cleaned, pageModel } from './page/page-model.js';
import { statusPage } from './page/status-page.js';

const QUOTES = 'the config cannot be used; its faults are left out here, as they may quote secrets';

export async function makePage(
  source: SupportSource,
  reported: readonly Reported[],
): Promise<string> {
  const told = source.loaded === undefined ? withoutQuotedConfig(reported, QUOTES) : reported;
  const model = pageModel(await pageFacts(source, told));
  return statusPage(cleaned(model, source.clean));
}
