import { AgentError, parsePlan } from '@wins/system-agent';
import type { WinsClient } from '@wins/wins-api';
import { planServiceDefinition } from '@wins/wins-api/contract';
import type { ClientIdentity } from '@wins/base';
import { FeatureSwitch } from '../../kernel/feature-switch.js';
import { kernelOf } from '../../testing/kernel-of.js';
import { agent as declaration } from './feature.js';
import type { PlanOutcome, RunningAgent } from './running-agent.js';
import { ADMINISTRATOR, CONTAINER } from '../../testing/client-identities.js';
import { AskedAs } from '../../testing/asked-as.js';
import { createPlanService, type PlanServiceParts } from './plan-service.js';

const { show, history, apply } = planServiceDefinition;
const { plan, checksum } = parsePlan(Buffer.from('{}'));
const RESULT: PlanOutcome['result'] = { succeeded: true, outputs: {}, probes: {}, periodic: {} };

describe('the service of plans', () => {
  const asked = new AskedAs();
  afterAll(() => asked[Symbol.dispose]());
  const { audit, decisions } = asked;
  let gone: AbortSignal | undefined;
  const agent: RunningAgent = {
    status: () => ({ plans: [], lastContactAt: new Date('2026-03-01T12:00:00Z') }),
    history: () => Promise.resolve([]),
    apply: (text, isDryRun, signal) => {
      gone = signal;
      if (text.length === 0)
        return Promise.reject(new AgentError('invalidPlan', 'cannot read the plan'));
      if (text.toString() !== 'endless')
        return Promise.resolve({ plan, checksum, ...(!isDryRun && { result: RESULT }) });
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new AgentError('closed', 'given up'))),
      );
    },
    close: () => Promise.resolve(),
  };

  const ON = { require: () => agent };

  const as = <T>(
    client: ClientIdentity,
    question: (daemon: WinsClient) => Promise<T>,
    view: PlanServiceParts['agent'] = ON,
  ): Promise<T> =>
    asked.ask(
      client,
      (server, callers) =>
        server.addService(
          planServiceDefinition,
          createPlanService({ agent: view, callers, audit }),
        ),
      question,
    );
  const request = (text: string, dryRun = false) => ({ text: Buffer.from(text), dryRun });

  it('answers administrators of the host alone', async () => {
    await as(CONTAINER, async (daemon) => {
      const refused = { code: 'refused', reason: 'notAdministrator' };
      const calls = [
        daemon.call(show, {}),
        daemon.call(history, {}),
        daemon.call(apply, request('{}')),
      ];
      for (const call of calls) await expect(call).rejects.toMatchObject(refused);
    });
    expect(decisions).toEqual([]);
  });

  it('says why nothing is followed', async () => {
    const reason = 'nothing is turned on';
    const off = new FeatureSwitch(declaration, kernelOf());
    off.apply({ reason });
    await as(
      ADMINISTRATOR,
      async (daemon) => {
        await expect(daemon.call(show, {})).rejects.toMatchObject({
          code: 'failedPrecondition',
          reason: 'agentOff',
          details: expect.stringContaining(reason) as unknown,
        });
      },
      off,
    );
  });

  it('records that a plan is applied by hand, and not that it is looked at', async () => {
    await as(ADMINISTRATOR, async (daemon) => {
      expect(await daemon.call(apply, request('{}', true))).toMatchObject({ applied: false });
      expect(decisions).toEqual([]);
      expect(await daemon.call(apply, request('{}'))).toMatchObject({ applied: true });
    });
    expect(decisions).toMatchObject([{ action: 'planApply', client: { uid: 0 } }]);
  });

  it('says what is wrong with a plan', async () => {
    await as(ADMINISTRATOR, async (daemon) => {
      const invalid = { code: 'invalidRequest', reason: 'invalidPlan' };
      await expect(daemon.call(apply, request(''))).rejects.toMatchObject(invalid);
    });
  });

  it('gives a plan up when who applies it goes away', async () => {
    await as(ADMINISTRATOR, async (daemon) => {
      const cancel = new AbortController();
      const applying = daemon.call(apply, request('endless'), { signal: cancel.signal });
      while (gone?.aborted !== false) await daemon.call(show, {});
      const ended = new Promise((resolve) => gone?.addEventListener('abort', resolve));
      cancel.abort();
      await expect(applying).rejects.toMatchObject({ code: 'aborted' });
      await ended;
    });
  });
});
