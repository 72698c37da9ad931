import { failingCallbacks } from '@wins/base/testing';
import { LeapingClock } from '@wins/net/testing';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  connectingStore,
  createSystemAgent,
  nodeReader,
  parsePlan,
  posixPlanFiles,
  secretStore,
  type FollowListener,
  type SecretStore,
} from './index.js';
import { parseConnectionInfo } from './kubernetes/connecting-store.js';
import { groupRunner } from './testing/group-runner.js';
import { dockerArchive, ImageLab, tarOf } from './testing/image-harness.js';
import { closeStores, never, serve } from './testing/store-harness.js';

const ignore = (): void => undefined;
const infoOf = (server: { connectionInfo(): string }) =>
  parseConnectionInfo(server.connectionInfo(), '/connection.json');
const options = () => ({ clock: new LeapingClock(), strictTls: true, environment: {} });

/** Watches a Secret that changes once, until its last value was reported to `onSecret`. */
async function watch(
  storeOf: (server: Awaited<ReturnType<typeof serve>>) => SecretStore,
  told: { readonly onSecret?: () => unknown; readonly onState?: () => unknown },
): Promise<void> {
  const server = await serve();
  server.create({ plan: 'first' });
  const stop = new AbortController();
  const plans: unknown[] = [];
  await storeOf(server).watch(
    (secret) => {
      const plan = secret?.data['plan']?.toString();
      plans.push(plan);
      if (plan === 'first') server.update({ plan: 'second' });
      else stop.abort();
      return told.onSecret?.();
    },
    told.onState ?? ignore,
    { signal: stop.signal },
  );
  expect(plans).toEqual(['first', 'second']);
}

const direct = (server: { connectionInfo(): string }): SecretStore =>
  secretStore(infoOf(server), options());
const connecting = (server: { connectionInfo(): string }): SecretStore =>
  connectingStore({
    clock: new LeapingClock(),
    readInfo: () => Promise.resolve(infoOf(server)),
    storeOf: (info) => secretStore(info, options()),
  });

const nodesOf = (server: { connectionInfo(): string }) =>
  nodeReader({
    clock: new LeapingClock(),
    readInfo: () => Promise.resolve(infoOf(server)),
    strictTlsOf: () => true,
    environment: {},
  });

/** Follows nodes, one of which comes later. */
async function follow(told: Partial<FollowListener<string>>): Promise<void> {
  const server = await serve();
  server.nodes.put({ metadata: { name: 'first' } });
  const stop = new AbortController();
  const names: string[] = [];
  await nodesOf(server).follow<string>(
    {
      read: (node) => (node as { metadata: { name: string } }).metadata.name,
      onAll: (all, version) => {
        names.push(...all);
        server.nodes.put({ metadata: { name: 'second' } });
        return told.onAll?.(all, version);
      },
      onChange: (type, name) => {
        names.push(name);
        stop.abort();
        return told.onChange?.(type, name);
      },
      onContact: told.onContact ?? ignore,
      onState: told.onState ?? ignore,
    },
    { signal: stop.signal },
  );
  expect(names).toEqual(['first', 'second']);
}

describe('an agent works on when a callback fails:', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-callbacks-'));
  });
  afterEach(async () => {
    await closeStores();
    rmSync(folder, { recursive: true });
  });

  it.each(
    failingCallbacks({
      'createSystemAgent.onEvent': async (callback) => {
        await using agent = createSystemAgent({
          workDirectory: path.join(folder, 'work'),
          preserveWorkDirectory: false,
          appliedPlanDirectory: path.join(folder, 'applied'),
          stateDirectory: path.join(folder, 'state'),
          clock: new LeapingClock(),
          files: posixPlanFiles(),
          programs: groupRunner(),
          images: { unpack: () => Promise.reject(new Error('there are no images')) },
          onAction: () => Promise.resolve(),
          onEvent: callback,
        });
        const instruction = { name: 'a', command: '/bin/sh', args: ['-c', 'true'] };
        const plan = parsePlan(Buffer.from(JSON.stringify({ instructions: [instruction] })));
        expect(await agent.applyOnce(plan, { signal: never })).toMatchObject({ succeeded: true });
      },
      'secretStore.onWarning': async (callback) => {
        const server = await serve();
        server.create({ plan: 'first' });
        const info = { ...infoOf(server), warnings: ['the token is old'] };
        const store = secretStore(info, { ...options(), onWarning: callback });
        expect(await store.read({ signal: never })).toHaveProperty('data.plan');
      },
      'secretStore.onWarning of a request': async (callback) => {
        const server = await serve();
        server.create({ plan: 'first' });
        const other = await serve();
        const { access, ...info } = infoOf(server);
        const store = secretStore(
          { ...info, access: { ...access, ca: other.ca } },
          {
            ...options(),
            strictTls: false,
            systemRoots: () => [server.ca],
            onWarning: callback,
          },
        );
        expect(await store.read({ signal: never })).toHaveProperty('data.plan');
      },
      'onState of secretStore': (callback) => watch(direct, { onState: callback }),
      'onState of connectingStore': (callback) => watch(connecting, { onState: callback }),
      'FollowListener.onContact': (callback) => follow({ onContact: callback }),
      'FollowListener.onState': (callback) => follow({ onState: callback }),
      'imageStore.onWarning': async (callback) => {
        const lab = new ImageLab();
        const layer = await tarOf([{ name: 'run.sh', mode: 0o755, content: 'hello' }]);
        writeFileSync(path.join(lab.images, 'a.tar'), 'no archive');
        const image = await dockerArchive('localtest/img:v1', [layer]);
        writeFileSync(path.join(lab.images, 'b.tar'), image);
        await lab.unpack('localtest/img:v1', { onWarning: callback });
        expect(existsSync(path.join(lab.folder, 'run.sh'))).toBe(true);
        lab.remove();
      },
    }),
  )('%s', (_name, play) => play());

  const DELIVERIES = {
    'onSecret of secretStore': (callback: () => unknown) => watch(direct, { onSecret: callback }),
    'onSecret of connectingStore': (callback: () => unknown) =>
      watch(connecting, { onSecret: callback }),
    'FollowListener.onAll': (callback: () => unknown) => follow({ onAll: callback }),
    'FollowListener.onChange': (callback: () => unknown) => follow({ onChange: callback }),
  };

  it.each(failingCallbacks(DELIVERIES).filter(([title]) => title.endsWith(' rejects')))(
    '%s',
    (_name, play) => play(),
  );

  it.each([0, 1])('delivers a Secret again after delivery %i failed', async (failing) => {
    const server = await serve();
    server.create({ plan: 'first' });
    const stop = new AbortController();
    const plans: unknown[] = [];
    await connecting(server).watch(
      (secret) => {
        const plan = secret?.data['plan']?.toString();
        plans.push(plan);
        if (plans.length === failing + 1) throw new Error('the queue is full');
        if (plan === 'first') server.update({ plan: 'second' });
        else stop.abort();
      },
      ignore,
      { signal: stop.signal },
    );
    expect(plans).toEqual(
      ['first', 'second'].toSpliced(failing, 0, ['first', 'second'][failing] ?? ''),
    );
  });

  it.each(['onAll', 'onChange'] as const)('delivers nodes again after %s failed', async (name) => {
    const server = await serve();
    server.nodes.put({ metadata: { name: 'first' } });
    const stop = new AbortController();
    const seen: string[] = [];
    let isFailing = true;
    const deliver = (from: typeof name, names: readonly string[]): void => {
      seen.push(`${from} ${names.join()}`);
      if (from === name && isFailing) {
        isFailing = false;
        throw new Error('the queue is full');
      }
      if (from === 'onAll' && !names.includes('second'))
        server.nodes.put({ metadata: { name: 'second' } });
      else if (from === 'onChange') stop.abort();
    };
    await nodesOf(server).follow<string>(
      {
        read: (node) => (node as { metadata: { name: string } }).metadata.name,
        onAll: (all) => deliver('onAll', all),
        onChange: (_type, changed) => deliver('onChange', [changed]),
        onContact: ignore,
        onState: ignore,
      },
      { signal: stop.signal },
    );
    const once = name === 'onAll' ? ['onAll first'] : [];
    const twice = name === 'onChange' ? ['onChange second'] : [];
    expect(seen).toEqual([...once, 'onAll first', ...twice, 'onChange second']);
  });
});
