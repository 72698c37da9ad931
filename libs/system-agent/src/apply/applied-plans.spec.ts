import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parsePlan } from '../plan/parse-plan.js';
import { AppliedPlans, MAX_APPLIED_PLANS } from './applied-plans.js';
import { posixPlanFiles } from './plan-files.js';

let folder: string;
beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), 'applied-plans-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const now = new Date(2026, 10, 22, 0, 31, 1);
const { plan, checksum } = parsePlan(Buffer.from('{"instructions":[{"name":"<a>"}]}'));

describe('the list of applied plans', () => {
  it('has the newest first, and nothing that cannot be read', async () => {
    const plans = new AppliedPlans(folder, posixPlanFiles());
    await plans.add(plan, checksum, now);
    await plans.add(parsePlan(Buffer.from('{}')).plan, 'other', new Date(now.getTime() + 1000));
    writeFileSync(path.join(folder, '20200101-000000-applied.plan'), 'garbage');
    writeFileSync(path.join(folder, '20200101-000001-applied.plan'), '{"Plan":{}}');
    symlinkSync('20261122-003101-applied.plan', path.join(folder, '20200101-000002-applied.plan'));
    const listed = await plans.list();
    expect(listed.map((one) => [path.basename(one.file), one.checksum])).toEqual([
      ['20261122-003102-applied.plan', 'other'],
      ['20261122-003101-applied.plan', checksum],
    ]);
    expect(listed[1]?.plan).toEqual(plan);
  });

  it('has both of two plans of one second, in their order', async () => {
    const plans = new AppliedPlans(folder, posixPlanFiles());
    for (const name of ['a', 'b', 'c']) {
      const text = Buffer.from(`{"instructions":[{"name":"${name}"}]}`);
      const parsed = parsePlan(text);
      await plans.add(parsed.plan, parsed.checksum, now);
    }
    const names = (await plans.list()).map((one) => one.plan.instructions[0]?.name);
    expect(names).toEqual(['c', 'b', 'a']);
  });

  it('keeps the newest first after the clock was set back, also when older ones are removed', async () => {
    const plans = new AppliedPlans(folder, posixPlanFiles());
    const wrong = new Date(now.getFullYear() + 4, 0, 1);
    const checksums: string[] = [];
    for (let index = 0; index < MAX_APPLIED_PLANS + 2; index += 1) {
      const parsed = parsePlan(Buffer.from(`{"instructions":[{"name":"${index}"}]}`));
      checksums.unshift(parsed.checksum);
      await plans.add(parsed.plan, parsed.checksum, index < MAX_APPLIED_PLANS ? wrong : now);
    }
    const listed = await plans.list();
    expect(listed.map((one) => one.checksum)).toEqual(checksums.slice(0, MAX_APPLIED_PLANS));
  });

  it('does not count a plan as listed whose file could not be written', async () => {
    const full = new Error('the disk is full');
    const files = { ...posixPlanFiles(), writePrivateFile: () => Promise.reject(full) };
    const plans = new AppliedPlans(folder, files);
    expect(await plans.has(checksum)).toBe(false);
    await expect(plans.add(plan, checksum, now)).rejects.toThrow(full);
    expect(await plans.has(checksum)).toBe(false);
  });

  it('is empty where there is no folder', async () => {
    expect(await new AppliedPlans(path.join(folder, 'none'), posixPlanFiles()).list()).toEqual([]);
  });

  it('goes on after a link in place of the newest, which is neither read nor written through', async () => {
    const plans = new AppliedPlans(folder, posixPlanFiles());
    const kept = path.join(folder, 'kept');
    writeFileSync(kept, 'kept');
    symlinkSync('kept', path.join(folder, '20261122-003101-applied.plan'));
    await plans.add(plan, checksum, now);
    expect((await plans.list()).map((one) => one.checksum)).toEqual([checksum]);
    expect(readFileSync(kept, 'utf8')).toBe('kept');
  });
});
