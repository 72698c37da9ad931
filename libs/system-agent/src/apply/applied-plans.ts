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
const NAME = /^\d{8}-\d{6}-applied\.plan$/;

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
    this.#known?.add(checksum);
    const names = await this.#names();
    const text = Buffer.from(`{"Plan":${PLAN.json(plan) ?? '{}'},"Checksum":"${checksum}"}`);
    const newest = names.at(-1);
    if (newest !== undefined && (await this.#read(newest))?.equals(text) === true) return;
    const name = freeName(names, now);
    await this.#files.writePrivateFile(path.join(this.#folder, name), text);
    const kept = [...new Set([...names, name])].sort();
    for (const old of kept.slice(0, -MAX_APPLIED_PLANS)) await unlink(path.join(this.#folder, old));
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

/** Returns a file name made from the time `now`. While that name is in `names`, uses a time one second later. */
function freeName(names: readonly string[], now: Date): string {
  for (let at = now.getTime(); ; at += 1000) {
    const name = `${datecode(new Date(at))}-applied.plan`;
    if (!names.includes(name)) return name;
  }
}
