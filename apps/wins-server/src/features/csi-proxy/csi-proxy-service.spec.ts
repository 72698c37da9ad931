import { CsiProxyError } from './csi-proxy-error.js';
import type { ClientIdentity } from '@wins/base';
import { FeatureError } from '../../kernel/feature-error.js';
import type { CsiProxyState } from './decide/component-state.js';
import type { WinsClient } from '@wins/wins-api';
import { csiProxyServiceDefinition } from '@wins/wins-api/contract';
import { AskedAs } from '../../testing/asked-as.js';
import { ADMINISTRATOR, CONTAINER } from '../../testing/client-identities.js';
import { FeatureSwitch } from '../../kernel/feature-switch.js';
import { kernelOf } from '../../testing/kernel-of.js';
import { csiProxy as declaration } from './feature.js';
import {
  createCsiProxyService,
  type CsiProxyServiceParts,
  type KeptCsiProxy,
} from './csi-proxy-service.js';

const { status, apply } = csiProxyServiceDefinition;
const DESIRED = {
  ...{ version: 'v1.1.3', sha256: 'a'.repeat(64), args: ['-v=1'], folder: '/f', trust: {} },
  url: 'https://example.com/x?sig=secret',
};
const FAILED: CsiProxyState = {
  ...{ kind: 'failed', code: 'notServing', detail: 'no pipe', failures: 2 },
  retryAt: new Date('2026-03-01T12:00:00Z'),
};

const on = (kept: KeptCsiProxy['kept']): CsiProxyServiceParts['csiProxy'] => ({
  ...{ running: { kept }, reason: '', require: () => ({ kept }) },
});

describe('the service of csi-proxy', () => {
  const asked = new AskedAs();
  afterAll(() => asked[Symbol.dispose]());
  const { audit, decisions } = asked;
  let isGone = false;
  const kept: KeptCsiProxy['kept'] = {
    ...{ state: { kind: 'serving', detail: 'v1.1.3 serves' }, desired: DESIRED },
    plan: () =>
      Promise.resolve([
        { action: 'switch', to: { program: '/p', args: [] }, reason: 'there is no service yet' },
        { action: 'rest', reason: 'v1.1.3 serves' },
      ]),
    apply: () => Promise.resolve(FAILED),
  };

  const as = <T>(
    client: ClientIdentity,
    question: (daemon: WinsClient) => Promise<T>,
    csiProxy: CsiProxyServiceParts['csiProxy'] = on(kept),
  ): Promise<T> =>
    asked.ask(
      client,
      (server, callers) =>
        server.addService(
          csiProxyServiceDefinition,
          createCsiProxyService({ csiProxy, callers, audit }),
        ),
      question,
    );

  it('answers administrators of the host alone', async () => {
    await as(CONTAINER, async (daemon) => {
      const refused = { code: 'refused', reason: 'notAdministrator' };
      await expect(daemon.call(status, {})).rejects.toMatchObject(refused);
      await expect(daemon.call(apply, { DryRun: true })).rejects.toMatchObject(refused);
      await expect(daemon.call(apply, { DryRun: false })).rejects.toMatchObject(refused);
    });
    expect(decisions).toEqual([]);
    expect(await as(ADMINISTRATOR, (daemon) => daemon.call(status, {}))).toMatchObject({
      ...{ On: true, State: 'serving', Detail: 'v1.1.3 serves', RetryAt: '', Code: '' },
      ...{ Version: 'v1.1.3', SHA256: 'a'.repeat(64), Folder: '/f', Arguments: ['-v=1'] },
      Address: 'https://example.com/x',
    });
  });

  it('says what would be done, and records what is done before it is', async () => {
    await as(ADMINISTRATOR, async (daemon) => {
      const dry = await daemon.call(apply, { DryRun: true });
      expect(dry.Applied).toBe(false);
      expect(dry.Steps).toEqual([
        { Act: 'switch', Program: '/p', Reason: 'there is no service yet' },
        { Act: 'rest', Program: '', Reason: 'v1.1.3 serves' },
      ]);
      expect(decisions).toEqual([]);
      const done = await daemon.call(apply, { DryRun: false });
      expect(done).toMatchObject({
        Applied: true,
        Status: {
          State: 'failed',
          Code: 'notServing',
          Failures: 2,
          RetryAt: '2026-03-01T12:00:00.000Z',
        },
      });
    });
    expect(decisions).toMatchObject([
      { action: 'csiProxyApply', verdict: 'allowed', client: { uid: 0 } },
    ]);
  });

  it('says why nothing keeps it', async () => {
    const off = new FeatureSwitch(declaration, kernelOf());
    off.apply({ reason: 'the config has no section csi-proxy' });
    await as(
      ADMINISTRATOR,
      async (daemon) => {
        expect(await daemon.call(status, {})).toMatchObject({ On: false, Reason: off.reason });
        await expect(daemon.call(apply, { DryRun: false })).rejects.toMatchObject({
          ...{ code: 'failedPrecondition', reason: 'csiProxyOff' },
          message: expect.stringContaining(off.reason) as string,
        });
      },
      off,
    );
  });

  it('answers with the code of what went wrong, and gives up when the caller is gone', async () => {
    const failing: typeof kept = {
      ...kept,
      plan: () => Promise.reject(new CsiProxyError('fileFailed', 'cannot read state.json')),
      apply: (signal) =>
        new Promise((_, reject) =>
          signal?.addEventListener('abort', () => {
            isGone = true;
            reject(new FeatureError('closed', 'given up'));
          }),
        ),
    };
    await as(
      ADMINISTRATOR,
      async (daemon) => {
        await expect(daemon.call(apply, { DryRun: true })).rejects.toMatchObject({
          reason: 'fileFailed',
        });
        const control = new AbortController();
        const calling = daemon.call(apply, { DryRun: false }, { signal: control.signal });
        const ended = expect(calling).rejects.toThrow();
        const before = decisions.length;
        while (decisions.length === before) await daemon.call(status, {});
        control.abort();
        await ended;
        while (!isGone) await daemon.call(status, {});
      },
      on(failing),
    );
    expect(isGone).toBe(true);
  });
});
