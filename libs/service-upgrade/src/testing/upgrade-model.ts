import fc from 'fast-check';
import { ModelNode, release, versionOf, type Fault } from './model-node.js';

const OLD = release('v1.0.0');
const NEXT = release('v1.1.0');

interface Story {
  readonly service: 'running' | 'stopped' | 'absent';
  readonly offered: string;
  readonly winsArgs?: string;
  /** True if a leftover that cannot be removed has the name of the offered program. */
  readonly isNameTaken?: boolean;
  /** True if a run of a daemon begins the upgrade, and a helper outside of the run performs it. */
  readonly leavesRun?: boolean;
}

const STORIES: Readonly<Record<string, Story>> = {
  'an upgrade': { service: 'running', offered: NEXT },
  'an upgrade with other arguments': { service: 'running', offered: NEXT, winsArgs: '--debug' },
  'an upgrade whose name is taken': { service: 'running', offered: NEXT, isNameTaken: true },
  'other arguments for the same program': { service: 'running', offered: OLD, winsArgs: '--debug' },
  'an upgrade that leaves its run': { service: 'running', offered: NEXT, leavesRun: true },
  'an upgrade of a stopped service': { service: 'stopped', offered: NEXT },
  'a first installation': { service: 'absent', offered: NEXT, winsArgs: '' },
  'a first installation of a release that lies': {
    service: 'absent',
    offered: release('v1.1.0', 'lies'),
    winsArgs: '',
  },
  'a release that lies': { service: 'running', offered: release('v1.1.0', 'lies') },
  'a release that does not serve': { service: 'running', offered: release('v1.1.0', 'idle') },
};

function begin(node: ModelNode, { service, offered, isNameTaken }: Story): string {
  if (isNameTaken === true) node.takeName(versionOf(offered), offered);
  if (service !== 'absent') node.install(OLD, service === 'running');
  return node.offer(offered);
}

function up(
  node: ModelNode,
  story: Story,
  program: string,
  faults: ReadonlyMap<number, Fault> = new Map(),
): ReturnType<ModelNode['up']> {
  const request = requestOf(story);
  return story.leavesRun === true
    ? node.upByHelper(program, faults, request)
    : node.up(program, faults, request);
}

function requestOf({ winsArgs }: Story) {
  return { allowDowngrade: false, ...(winsArgs !== undefined && { winsArgs }) };
}

function isWell(offered: string): boolean {
  return offered.includes('# well');
}

async function expectRestAfterBoot(node: ModelNode, { offered, service }: Story): Promise<void> {
  await node.boot();
  expect(node.violations).toEqual([]);
  // A failed first installation has no release to return to; the next `wins up` removes the service.
  if (service === 'absent' && (node.command === undefined || !isWell(offered))) return;
  expect(node.command?.imagePath).toBe(node.target);
  expect(node.running?.text).toBe(node.installed);
  expect([OLD, ...(isWell(offered) ? [offered] : [])]).toContain(node.installed);
  expect(node.leftovers).toEqual([]);
}

async function expectRestAfterUp(node: ModelNode, story: Story, program: string): Promise<void> {
  const end = await up(node, story, program);
  expect(node.violations).toEqual([]);
  if (isWell(story.offered)) {
    expect(['upgraded', 'nothing']).toContain(end);
    expect(node.running?.text).toBe(story.offered);
    expect(node.installed).toBe(story.offered);
    expect(node.command?.args.includes('--debug')).toBe(story.winsArgs === '--debug');
  } else {
    const before = story.service === 'absent' ? undefined : OLD;
    expect(end).toBe('rolledBack');
    expect(node.running?.text).toBe(before);
    expect(node.installed).toBe(before);
    expect(node.command === undefined).toBe(before === undefined);
  }
  if (node.command !== undefined) expect(node.command.imagePath).toBe(node.target);
  expect(node.leftovers).toEqual([]);
}

export interface ModelExtent {
  /** Distance between the effects that are tested with a fault: 1 means every effect. The first tested effect differs between stories. */
  readonly everyNth: number;
  readonly schedules: number;
}

/** Tests that a node has the old release or the new one after any fault at any moment. */
export function testUpgradeModel({ everyNth, schedules }: ModelExtent): void {
  describe.each(Object.entries(STORIES).map(([name, story], at) => [name, story, at] as const))(
    '%s',
    (_name, story, at) => {
      let count: number;
      beforeAll(async () => {
        using node = new ModelNode();
        const program = begin(node, story);
        const end = await up(node, story, program);
        expect(end).toBe(isWell(story.offered) ? 'upgraded' : 'rolledBack');
        count = node.effects;
      });

      it.each<Fault>(['before', 'after', 'ENOSPC'])(
        'leaves old or new, never neither, with "%s" at any effect',
        async (fault) => {
          expect(count).toBeGreaterThan(10);
          const all = Array.from({ length: count }, (_, index) => index + 1);
          const effects = all.filter((effect) => (effect + at) % everyNth === 0);
          await Promise.all(
            effects.flatMap((effect) =>
              (['boot', 'up'] as const).map(async (next) => {
                using node = new ModelNode({ asksPrograms: false });
                const program = begin(node, story);
                await up(node, story, program, new Map([[effect, fault]]));
                if (next === 'boot') await expectRestAfterBoot(node, story);
                else await expectRestAfterUp(node, story, program);
              }),
            ),
          );
        },
        120_000,
      );
    },
  );

  describe('random fault schedules', () => {
    const faults = fc
      .array(
        fc.tuple(
          fc.integer({ min: 1, max: 45 }),
          fc.constantFrom<Fault>('before', 'after', 'EBUSY', 'ENOSPC', 'EIO'),
        ),
        { maxLength: 3 },
      )
      .map((pairs) => new Map(pairs));
    const life = fc.record({ kind: fc.constantFrom('up', 'boot'), faults });
    const schedule = fc.record({
      story: fc.constantFrom(...Object.values(STORIES)),
      lives: fc.array(life, { minLength: 1, maxLength: 4 }),
    });

    it('leave old or new, never neither', async () => {
      await fc.assert(
        fc.asyncProperty(schedule, async ({ story, lives }) => {
          using node = new ModelNode({ asksPrograms: false });
          const program = begin(node, story);
          for (const { kind, faults } of lives) {
            if (kind === 'up') await up(node, story, program, faults);
            else await node.boot(faults);
            expect(node.violations).toEqual([]);
          }
          await expectRestAfterBoot(node, story);
          await expectRestAfterUp(node, story, program);
        }),
        { numRuns: schedules },
      );
    }, 240_000);
  });
}
