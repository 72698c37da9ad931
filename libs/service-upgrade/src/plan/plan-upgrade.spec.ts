import { describePlan, planUpgrade, refuseProgram, type UpgradeFacts } from './plan-upgrade.js';

const OLD = { sha256: 'a'.repeat(64), sha1: 'a'.repeat(40), version: 'v1.0.0' };
const NEW = { sha256: 'b'.repeat(64), sha1: 'b'.repeat(40), version: 'v1.1.0' };
const COMMAND = { imagePath: '/opt/wins', args: ['srv', 'app', 'run', '--config', 'c'] };
const FACTS: UpgradeFacts = {
  platform: 'linux',
  arch: 'x64',
  target: '/opt/wins',
  defaultConfig: '/etc/rancher/wins/config',
  service: { command: COMMAND, state: 'running' },
  isServing: true,
  installed: OLD,
  offered: NEW,
  request: { allowDowngrade: false },
};
const TRIAL = 'lend start reclaim prove replace';

function stepsOf(facts: Partial<UpgradeFacts>): string {
  const plan = planUpgrade({ ...FACTS, ...facts });
  return plan.kind === 'steps'
    ? plan.steps.map(({ step }) => step).join(' ')
    : `${plan.kind}: ${plan.reason}`;
}

function request(more: Partial<UpgradeFacts['request']>): Partial<UpgradeFacts> {
  return { request: { ...FACTS.request, ...more } };
}

describe('the plan of an upgrade', () => {
  it.each<[string, Partial<UpgradeFacts>, string]>([
    ['a newer release', {}, `stage checkConfig stop ${TRIAL}`],
    [
      'a stopped service',
      { service: { command: COMMAND, state: 'stopped' } },
      `stage checkConfig stop ${TRIAL}`,
    ],
    [
      'a paused service',
      { service: { command: COMMAND, state: 'paused' } },
      `stage checkConfig stop ${TRIAL}`,
    ],
    [
      'other arguments',
      request({ winsArgs: '--debug' }),
      `stage checkConfig stop ${TRIAL} register`,
    ],
    [
      'other arguments for the same program',
      { offered: OLD, ...request({ winsArgs: '--debug' }) },
      `stage checkConfig stop ${TRIAL} register`,
    ],
    [
      'the same program, stopped',
      { offered: OLD, isServing: false, service: { command: COMMAND, state: 'stopped' } },
      `stage checkConfig stop ${TRIAL}`,
    ],
    [
      'the same program that does not serve',
      { offered: OLD, isServing: false },
      `stage checkConfig stop ${TRIAL}`,
    ],
    [
      'no service',
      { service: undefined, installed: undefined, ...request({ winsArgs: '' }) },
      'stage checkConfig replace register start prove',
    ],
    [
      'a service whose program is gone',
      { service: { command: COMMAND, state: 'stopped' }, installed: undefined },
      'stage checkConfig stop replace register start prove',
    ],
    [
      'a program in place that does not say its release',
      { installed: { sha256: OLD.sha256, sha1: OLD.sha1 } },
      `stage checkConfig stop ${TRIAL}`,
    ],
    [
      'another build of the same release',
      { offered: { ...NEW, version: 'v1.0.0' } },
      `stage checkConfig stop ${TRIAL}`,
    ],
    [
      'an older release that is wanted',
      { offered: { ...NEW, version: 'v0.9.0' }, ...request({ allowDowngrade: true }) },
      `stage checkConfig stop ${TRIAL}`,
    ],
  ])('for %s has its steps', (_what, facts, steps) => {
    expect(stepsOf(facts)).toBe(steps);
  });

  it('is nothing when the program and its arguments are in place and run', () => {
    expect(stepsOf({ offered: OLD })).toMatch(/^nothing: /);
    expect(stepsOf({ offered: OLD, holdsTarget: true })).toMatch(/^nothing: /);
    expect(stepsOf({ offered: OLD, ...request({ winsArgs: '--config c' }) })).toMatch(/^nothing: /);
  });

  it.each<[string, Partial<UpgradeFacts>, RegExp]>([
    ['an older release', { offered: { ...NEW, version: 'v0.9.0' } }, /is older than/],
    ['a release candidate of it', { offered: { ...NEW, version: 'v1.0.0-rc1' } }, /is older than/],
    [
      'a build of no release',
      { offered: { ...NEW, version: 'dev' } },
      /cannot be compared with.*--allow-downgrade/,
    ],
    [
      'a program that does not say its release',
      { offered: { sha256: NEW.sha256, sha1: NEW.sha1 } },
      /does not report its release/,
    ],
    [
      'a service that nobody may start',
      { service: { command: COMMAND, state: 'running', isDisabled: true } },
      /the service is disabled/,
    ],
    ['no service and no arguments', { service: undefined }, /there is no service.*--wins-args/],
    ['--register', request({ winsArgs: 'srv app run --register' }), /--register/],
    ['--unregister', request({ winsArgs: '-unregister' }), /--unregister/],
    [
      'another config than is expected',
      request({ expectConfig: '/his' }),
      /reads the config c; wanted/,
    ],
    [
      'another config, also when there is nothing to do',
      { offered: OLD, ...request({ expectConfig: '/his' }) },
      /reads the config c; wanted/,
    ],
    ['a program that would replace itself while it runs', { holdsTarget: true }, /Run a copy/],
    ['a path with a quote', { target: '/opt/"x"/wins' }, /has a quote in it/],
  ])('is a refusal for %s', (_what, facts, reason) => {
    expect(stepsOf(facts)).toMatch(/^refusal: /);
    expect(stepsOf(facts)).toMatch(reason);
  });

  it('keeps the path that the service names', () => {
    const service = {
      command: { ...COMMAND, imagePath: '/usr/bin/wins' },
      state: 'running',
    } as const;
    expect(planUpgrade({ ...FACTS, service })).toMatchObject({
      command: { imagePath: '/usr/bin/wins' },
    });
  });

  it('can be read', () => {
    expect(describePlan(planUpgrade(FACTS))).toMatch(/^1\. stage: .*\n2\. checkConfig: /);
    expect(describePlan({ kind: 'refusal', reason: 'why' })).toBe('refused: why\n');
    expect(describePlan({ kind: 'nothing', reason: 'why' })).toBe('nothing to do: why\n');
  });
});

describe('a program that is offered', () => {
  const elf = { format: 'elf', arch: 'x64' } as const;
  const { request: none } = FACTS;

  it.each([
    [elf, none, undefined],
    [elf, { ...none, sha256: NEW.sha256.toUpperCase() }, undefined],
    [elf, { ...none, sha256: OLD.sha256 }, /has the SHA-256 b+; wanted a+/],
    [{ format: 'elf', arch: 'arm64' } as const, none, /found elf for arm64, wanted one for linux/],
    [{ format: 'pe', arch: 'x64' } as const, none, /found pe for x64/],
    [{ format: 'unknown', arch: 'unknown' } as const, none, /another system/],
  ])('is judged before it is run (%#)', (format, wanted, refusal) => {
    const reason = refuseProgram({ sha256: NEW.sha256, format }, FACTS, wanted);
    if (refusal === undefined) expect(reason).toBeUndefined();
    else expect(reason).toMatch(refusal);
  });
});

describe('the order of releases', () => {
  const plan = (offered: string, installed: string): string =>
    stepsOf({
      offered: { ...NEW, version: offered },
      installed: { ...OLD, version: installed },
    });

  it.each([
    ['v1.2.3', '1.2.3'],
    ['v1.0.0+build5', 'v1.0.0'],
  ])('is the same for %s and %s', (left, right) => {
    expect(plan(left, right)).toMatch(/^stage /);
    expect(plan(right, left)).toMatch(/^stage /);
  });

  it('names the runs that go on and those that end, if the daemon tells, whatever their names are', () => {
    const plan = planUpgrade(FACTS);
    const runs = { carriedOver: ['one', 'two'], ended: ['\u001b[2Jthree'] };
    if (plan.kind !== 'steps') throw new Error(plan.reason);
    expect(describePlan({ ...plan, runs }).slice(describePlan(plan).length)).toBe(
      'runs that continue: one, two\nruns that end with the daemon: \\u001b[2Jthree\n',
    );
    expect(describePlan({ ...plan, runs: { carriedOver: [], ended: [] } })).toBe(
      describePlan(plan),
    );
  });

  it.each([
    ['v1.2.3', 'v1.2.4'],
    ['v1.9.9', 'v1.10.0'],
    ['v2.0.0', 'v10.0.0'],
    ['v1.0.0-rc1', 'v1.0.0'],
    ['v1.0.0-rc.2', 'v1.0.0-rc.10'],
    ['v1.0.0-1', 'v1.0.0-rc'],
    ['v1.0.0-rc', 'v1.0.0-rc.1'],
  ])('puts %s before %s', (older, newer) => {
    expect(plan(newer, older)).toMatch(/^stage /);
    expect(plan(older, newer)).toMatch(/ is older than /);
  });

  it.each(['dev', '1.2', 'v1.2.3.4', 'v1.2.3-', `v${'9'.repeat(400)}.0.0`])(
    'has no place for %j',
    (text) => {
      expect(plan(text, 'v1.0.0')).toMatch(/ cannot be compared with /);
      expect(plan('v1.0.0', text)).toMatch(/ cannot be compared with /);
    },
  );
});
