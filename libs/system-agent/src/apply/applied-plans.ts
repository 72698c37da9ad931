import { readBytes } from '@wins/trusted-files';
import { errnoOf } from '@wins/base';
import { readdir, unlink } from 'node:fs/promises';
import path from 'node:path';

import { parsePlan } from '../plan/parse-plan.js';
import { PLAN } from '../plan/plan-format.js';
import type { Plan } from '../plan/plan.js';
import type { PlanFiles } from '../ports.js';
import type { AppliedPlan } from '../system-agent.js';
import { datecode } from './unix-date.js';

export const MAX_APPLIED_PLANS = 64;

/** A plan has at most 1 MiB, but JSON escapes can make it six times as long. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;
const NAME = /^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)-applied\.plan$/;

/** History of plans: one file per plan, in a private folder. */
export class AppliedPlans {
  readonly #folder: string;
  readonly #files: PlanFiles;
  #known: Set<string> | undefined;

  constructor(folder: string, files: PlanFiles) {
    this.#folder = folder;
    this.#files = files;
  }

  async has(checksum: string): Promise<boolean> {
    this.#known ??= new Set((await this.list()).map((one) => one.checksum));
    return this.#known.has(checksum);
  }

  /** Does nothing if the plan is already the newest. @throws AgentError `fileFailed`, and errors of Node. */
  async add(plan: Plan, checksum: string, now: Date): Promise<void> {
    await this.#files.ensurePrivateFolder(this.#folder);
    const names = await this.#names();
    const text = Buffer.from(`{"Plan":${PLAN.json(plan) ?? '{}'},"Checksum":"${checksum}"}`);
    const newest = names.at(-1);
    const isNewest = newest !== undefined && (await this.#read(newest))?.equals(text) === true;
    if (!isNewest) {
      const name = nameAfter(newest, now);
      await this.#files.writePrivateFile(path.join(this.#folder, name), text);
      names.push(name);
    }
    this.#known?.add(checksum);
    for (const old of names.slice(0, -MAX_APPLIED_PLANS))
      await unlink(path.join(this.#folder, old));
  }

  /** Newest first; omits files without a valid plan. */
  async list(): Promise<readonly AppliedPlan[]> {
    const names = (await this.#names()).reverse();
    const plans = await Promise.all(names.map((name) => this.#plan(name)));
    return plans.filter((plan) => plan !== undefined);
  }

  async #plan(name: string): Promise<AppliedPlan | undefined> {
    try {
      const text = await this.#read(name);
      const { Plan: plan, Checksum: checksum } = JSON.parse(text?.toString() ?? 'null') as {
        readonly Plan?: unknown;
        readonly Checksum?: unknown;
      };
      const parsed = parsePlan(Buffer.from(JSON.stringify(plan ?? null)));
      if (typeof checksum !== 'string') return undefined;
      return { file: path.join(this.#folder, name), checksum, plan: parsed.plan };
    } catch {
      return undefined;
    }
  }

  async #names(): Promise<string[]> {
    try {
      return (await readdir(this.#folder)).filter((name) => NAME.test(name)).sort();
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return [];
      throw error;
    }
  }

  #read(name: string): Promise<Buffer | undefined> {
    const file = path.join(this.#folder, name);
    return readBytes(file, { maxBytes: MAX_FILE_BYTES }).catch(() => undefined);
  }
}

/**
 * Returns a file name made from the time `now`, or from the first later second whose name comes after `newest`: names are in
 * the order of plans, even if the clock was set back, or an hour comes twice.
 */
function nameAfter(newest: string | undefined, now: Date): string {
  const [, year = 0, month = 1, ...rest] = NAME.exec(newest ?? '')?.map(Number) ?? [];
  const newestMs = new Date(year, month - 1, ...rest).getTime();
  for (let at = Math.max(now.getTime(), newestMs); ; at += 1000) {
    const name = `${datecode(new Date(at))}-applied.plan`;
    // From the year 10,000 on, names are longer.
    if (newest === undefined || name > newest || name.length > newest.length) return name;
  }
}
