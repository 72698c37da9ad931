import { writeNewPrivateFile } from '@wins/trusted-files';
import path from 'node:path';
import type { Reported } from '../kernel/conditions/condition.js';
import type { DoctorHost } from '../kernel/doctor-host.js';
import { thisSystem } from '../this-system.js';
import { pageFacts } from './page/page-facts.js';
import { cleaned, pageModel } from './page/page-model.js';
import { statusPage } from './page/status-page.js';
import { supportSource, withoutQuotedConfig, type SupportSource } from './support-source.js';

const QUOTES = 'the config cannot be used; its faults are left out here, as they may quote secrets';

export interface PageOptions {
  readonly file: string;
  readonly config: string | undefined;
}

/** Writes the state of this node as a page that only administrators can read. @throws TrustedFileError `alreadyExists` and others. */
export async function writePage(
  { file, config }: PageOptions,
  host: DoctorHost,
  reported: readonly Reported[],
): Promise<void> {
  const named = config === undefined ? undefined : path.resolve(config);
  const page = Buffer.from(await makePage(await supportSource(named, host), reported));
  const { createPrivateFile: create } = thisSystem();
  await writeNewPrivateFile(path.resolve(file), (write) => write(page, 0), { create });
}

/** Returns the page, without the secrets of the config. */
export async function makePage(
  source: SupportSource,
  reported: readonly Reported[],
): Promise<string> {
  const told = source.fault === undefined ? reported : withoutQuotedConfig(reported, QUOTES);
  const model = pageModel(await pageFacts(source, told));
  return statusPage(cleaned(model, source.clean));
}
