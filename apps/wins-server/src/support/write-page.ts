import { writeNewPrivateFile } from '@wins/trusted-files';
import path from 'node:path';
import type { Reported } from '../kernel/conditions/condition.js';
import { thisSystem } from '../this-system.js';
import { supportSource, type SupportSource } from './support-source.js';
import type { DoctorHost } from '../kernel/doctor-host.js';

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
  const page = Buffer.from(await pageOf(await supportSource(named, host), reported));
  const { createPrivateFile: create } = await thisSystem();
  await writeNewPrivateFile(path.resolve(file), (write) => write(page, 0), { create });
}

/** Returns the page, without the secrets of the config. */
export async function pageOf(source: SupportSource, reported: readonly Reported[]) {
  const { makePage } = await import('./make-page.js');
  return makePage(source, reported);
}
