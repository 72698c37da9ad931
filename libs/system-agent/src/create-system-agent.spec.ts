import { FakeClock } from '@wins/base/testing';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { AgentAction } from './agent-event.js';
import { posixPlanFiles } from './apply/plan-files.js';
import { createSystemAgent } from './create-system-agent.js';
import { connectingStore } from './kubernetes/connecting-store.js';
import type { Clock, SecretStore } from './ports.js';
import { parsePlan, type ParsedPlan } from './plan/parse-plan.js';
import type { AgentOptions, SystemAgent } from './system-agent.js';
import { groupRunner } from './testing/group-runner.js';
import { MemorySecrets } from './testing/memory-secrets.js';

const shell = (name: string, script: string): object => ({
  name,
  command: '/bin/sh',
  args: ['-c', script],
  saveOutput: true,
});
const planText = (...instructions: object[]): string => JSON.stringify({ instructions });
const planOf = (...instructions: object[]): ParsedPlan =>
  parsePlan(Buffer.from(planText(...instructions)));

describe('createSystemAgent', () => {
  let folder: string;
  let agent: SystemAgent | undefined;
  const actions: AgentAction[] = [];

  const start = (changes: Partial<AgentOptions> = {}): SystemAgent => {
    agent = createSystemAgent({
      workDirectory: path.join(folder, 'work'),
      preserveWorkDirectory: false,
      appliedPlanDirectory: path.join(folder, 'applied'),
      stateDirectory: path.join(folder, 'state'),
      clock: new FakeClock(),
      files: posixPlanFiles(),
      programs: groupRunner(),
      images: { unpack: () => Promise.reject(new Error('there are no images')) },
      onAction: (action) => {
        actions.push(action);
        return Promise.resolve();
      },
      onEvent: () => undefined,
      ...changes,
    });
    return agent;
  };
  const { signal } = new AbortController();

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'system-agent-'));
    actions.length = 0;
  });

  afterEach(async () => {
    await agent?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('applies a plan once, keeps it in the history and has no plan of its own', async () => {
    const result = await start().applyOnce(
      planOf(shell('a', 'echo $CATTLE_AGENT_ATTEMPT_NUMBER')),
      { signal },
    );
    expect(result).toMatchObject({ succeeded: true, outputs: { a: Buffer.from('0\n') } });
    expect(actions).toEqual([
      expect.objectContaining({ kind: 'instruction', source: 'once', instruction: 'a' }),
    ]);
    expect(await agent?.history()).toEqual([
      expect.objectContaining({ checksum: expect.any(String) as string }),
    ]);
    expect(agent?.status()).toEqual({ plans: [] });
  });

  it('applies nothing after it was closed', async () => {
    start();
    await agent?.close();
    await agent?.[Symbol.asyncDispose]();
    await expect(agent?.applyOnce(planOf(), { signal })).rejects.toMatchObject({ code: 'closed' });
  });

  it('ends what runs when it is closed, and does not call that a failure', async () => {
    const secrets = new MemorySecrets();
    const started = path.join(folder, 'started');
    secrets.create({ plan: planText(shell('a', `echo > ${started}; while :; do :; done`)) });
    let seen = (): void => undefined;
    const running = new Promise<void>((resolve) => (seen = resolve));
    const programs = groupRunner();
    start({
      secrets,
      programs: {
        ...programs,
        run: (command, { signal: ending }) => {
          seen();
          return programs.run(command, { signal: ending });
        },
      },
    });
    await running;
    expect(agent?.status().plans).toMatchObject([
      { source: 'remote', state: { kind: 'applying', attempt: 1 } },
    ]);
    await agent?.close();
    expect(secrets.versions.map(({ by }) => by)).toEqual(['other']);
  });

  it('tells the plans of both sources, and when the API server was heard of', async () => {
    const secrets = new MemorySecrets();
    const clock = new FakeClock();
    secrets.create({ plan: planText() });
    secrets.lastContactMs = clock.monotonicMs() - 5_000;
    const lastContactAt = new Date(clock.now().getTime() - 5_000);
    mkdirSync(path.join(folder, 'plans'));
    writeFileSync(path.join(folder, 'plans/l.plan'), planText(shell('l', 'true')), { mode: 0o600 });
    start({ secrets, clock, localPlanDirectory: path.join(folder, 'plans') });
    while (clock.waits.length < 2) await new Promise((resolve) => setImmediate(resolve));
    expect(agent?.status()).toMatchObject({
      plans: [
        { source: 'remote', state: { kind: 'applied' }, failures: 0 },
        { source: path.join(folder, 'plans/l.plan'), state: { kind: 'applied' } },
      ],
      lastContactAt,
      silentMs: 5_000,
    });
  });

  it.each([0, 3_600_000, -3_600_000])(
    'says for how long a server is silent that it never heard of, also after the clock was set by %i ms',
    (setByMs) => {
      const time = new FakeClock();
      let setMs = 0;
      const clock: Clock = {
        now: () => new Date(time.now().getTime() + setMs),
        monotonicMs: () => time.monotonicMs(),
        wait: (ms, options) => time.wait(ms, options),
      };
      const noFile = (): Promise<never> => Promise.reject(new Error('no such file'));
      const storeOf = (): SecretStore => new MemorySecrets();
      start({ secrets: connectingStore({ clock, readInfo: noFile, storeOf }), clock });
      time.advance(700_000);
      setMs = setByMs;
      expect(agent?.status()).toMatchObject({ silentMs: 700_000 });
      expect(agent?.status().lastContactAt).toBeUndefined();
    },
  );
});
