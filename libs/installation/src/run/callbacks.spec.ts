import { failingCallbacks } from '@wins/base/testing';
import { editConfig, plainInstallation, TestNode } from '../testing/node-harness.js';
import { readFacts } from '../facts/read-facts.js';
import { planInstall } from '../plan/plan-install.js';
import { planUninstall } from '../plan/plan-uninstall.js';
import { applyPlan } from './apply-plan.js';
import { uninstall } from './uninstall.js';

describe('each step is made when the callback for it fails:', () => {
  it.each(
    failingCallbacks({
      'onStep of applyPlan': async (callback) => {
        using node = new TestNode();
        const desired = plainInstallation(node);
        const { context } = node.context();
        const plan = planInstall(await readFacts(context, desired), desired, editConfig);
        if (plan.kind !== 'steps') throw new Error(plan.reason);
        const end = await applyPlan({ ...context, onStep: callback }, plan);
        expect(end).toMatchObject({ outcome: 'installed' });
      },
      'onStep of uninstall': async (callback) => {
        using node = new TestNode();
        const found = node.snapshot();
        const installation = plainInstallation(node);
        await node.install(installation);
        const { context } = node.context();
        const { service, paths } = installation;
        const facts = await readFacts(context, installation);
        const plan = planUninstall(facts, { service, programs: [paths.program] });
        if (plan.kind !== 'uninstall') throw new Error(plan.reason);
        const report = await uninstall({ ...context, onStep: callback }, plan);
        expect(report).toEqual({ kept: [], failed: [] });
        expect(node.snapshot()).toEqual(found);
      },
    }),
  )('%s', (_name, play) => play());
});
