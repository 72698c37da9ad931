import type { handleUnaryCall } from '@grpc/grpc-js';
import { configFingerprint } from '@wins/config';
import { createWinsClient, type WinsClient } from '@wins/wins-api';
import {
  configServiceDefinition,
  eventsServiceDefinition,
  healthServiceDefinition,
  HealthStatus,
  metricsServiceDefinition,
  featureServiceDefinition,
} from '@wins/wins-api/contract';
import { EventEmitter, once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { callRunningDaemon } from '../client/running-daemon.js';
import { ConfigLoader } from '../configuration/config-loader.js';
import { featureAction } from '../kernel/audit/decision.js';
import type { ResourceRow } from '../kernel/admission/resources.js';
import { FeatureError } from '../kernel/feature-error.js';
import { loadDaemonConfig } from '../load-daemon-config.js';
import { removeFeatures } from '../remove-features.js';
import { CONTAINER } from '../testing/client-identities.js';
import { startDaemon, type Daemon } from '../daemon.js';
import { examine } from '../doctor/examine.js';
import { ok, problem } from '../kernel/conditions/condition.js';
import { decodeEvents } from '../kernel/events/ring-files.js';
import { localDoctorHost } from '../doctor/local-doctor-host.js';
import { featureMetrics, type Feature, type RunningFeature } from '../kernel/feature.js';
import { counter } from '../kernel/metrics.js';
import { createLoggerTo, LogLevel } from '../kernel/log/logger.js';
import { posix } from '../posix.js';
import { administratorsOnly } from '../kernel/rpc/administrators-only.js';
import { FEATURES } from './features.js';
import { metrics, metricsFeature } from './metrics/feature.js';
import { startMetrics } from './metrics/start-metrics.js';

interface Echo extends RunningFeature<EchoSettings> {
  readonly word: string;
}

interface EchoSettings {
  readonly word: string;
}

const bytes = {
  requestSerialize: (text: string) => Buffer.from(text),
  requestDeserialize: (octets: Buffer) => octets.toString(),
  responseSerialize: (text: string) => Buffer.from(text),
  responseDeserialize: (octets: Buffer) => octets.toString(),
};
const say = {
  path: '/wins.Echo/Say',
  requestStream: false,
  responseStream: false,
  ...bytes,
} as const;

/** Calls of all clients together. */
const ECHOES: ResourceRow = { what: 'echoes', total: 2, reserve: 1, floor: 1, atLimit: 'refused' };
const ECHO = featureAction('echo', 'before', 'echo anything');
const ECHO_METRICS = { wins_echoes_total: counter('Echoes.', { kind: ['started', 'other'] }) };

/** Feature that no other file of the daemon knows: it answers with the word that `processEnvironment.ECHO` sets. */
function echoFeature(actions: string[], changes: EventEmitter): Feature<EchoSettings, Echo> {
  let failures = 1;
  return {
    name: 'echo',
    stage: 'works',
    purpose: 'echo anything',
    readAtStart: ['debug'],
    // A key of its own would be a line of libs/config, because the chart and other programs read configs without the daemon.
    judge: ({ config: { processEnvironment } }) =>
      processEnvironment['ECHO'] === 'mute'
        ? [
            {
              severity: 'warning',
              code: 'doubtful',
              keyPath: 'processEnvironment',
              found: 'a mute echo',
              expected: 'a word',
              nextStep: 'choose a word',
            },
          ]
        : [],
    settings: ({ config: { processEnvironment } }) => {
      const { ECHO: word } = processEnvironment;
      return word === undefined ? { reason: 'there is no word' } : { word };
    },
    start: ({ word }, { events }) => {
      actions.push(`start ${word}`);
      changes.emit('start');
      if (word === 'hard' && failures > 0) {
        failures -= 1;
        throw new Error('too hard at first');
      }
      events.publish({ type: 'kept', event: 'echoStarted', facts: { word } });
      return { word, close: () => void actions.push(`close ${word}`) };
    },
    whenOff: { code: 'echoOff', message: (reason) => `cannot echo: ${reason}` },
    services: (view, { audit, resources, pipe }) => [
      {
        definition: { say },
        pipe: 'both',
        implement: (callers) => {
          const answer = administratorsOnly(callers, 'echo');
          const handler: handleUnaryCall<string, string> = (call, respond) =>
            answer(call, respond, async () => {
              const requester = call.getPeer();
              const claim = resources.of('echoes', ECHOES).take(pipe.connections.clientOf(call));
              if (claim === undefined) throw new FeatureError('busy', 'there are too many echoes');
              using _claim = { [Symbol.dispose]: () => claim.release() };
              await audit.decided({ ...ECHO, verdict: 'allowed', requester });
              return `${view.require().word} ${call.request}`;
            });
          return { say: handler };
        },
      },
    ],
    conditions: ({ running }) =>
      running?.word === 'hoarse' ? [problem('echo', 'echoHoarse', 'it is hoarse', 'rest')] : [],
    facts: ({ word }) => ({ word }),
    changes: {
      actions: { apply: ECHO, remove: undefined },
      make: ({ word }) => Promise.resolve(actions.push(`apply ${word}`)),
    },
    doctor: [{ name: 'echo', look: () => Promise.resolve([ok('echo', 'it can be heard')]) }],
    removal: {
      what: 'echo in the hills',
      remove: ({ configFile }) => {
        actions.push(`remove ${path.basename(configFile)}`);
        return Promise.resolve('it still sounds');
      },
    },
    metrics: featureMetrics(ECHO_METRICS, (metrics) => (event) => {
      if (event.type === 'kept' && event.event === 'echoStarted')
        metrics.count('wins_echoes_total', { kind: 'started' });
    }),
  };
}

/** The command of the feature. */
async function sayToDaemon(server: string, word: string): Promise<string> {
  return callRunningDaemon({ server }, say, word, { asker: 'wins srv echo say' });
}

describe('a feature that is added to the array, and to nothing else', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-echo-'));
  const file = path.join(folder, 'config');
  const { WINS_RUNTIME_DIR: before } = process.env;
  const actions: string[] = [];
  const lines: string[] = [];
  const changes = new EventEmitter();
  const echo = echoFeature(actions, changes);
  const features = [
    // Loads the metrics from source code instead of their bundle.
    ...FEATURES.map((one) => (one === metrics ? metricsFeature(() => ({ startMetrics })) : one)),
    echo,
  ];
  let daemon: Daemon;
  let client: WinsClient;

  const write = (word: string | undefined, more = '') => {
    const section = word === undefined ? '' : `processEnvironment: {ECHO: ${word}}\n`;
    const metricsSection = 'metrics: {listen: "127.0.0.1:1"}\n';
    writeFileSync(
      file,
      `listen: ${folder}/run/main\nproxy: ${folder}/run/tunnel\n${metricsSection}${section}${more}`,
      {
        mode: 0o600,
      },
    );
  };
  const reload = async (word: string | undefined, more = '') => {
    write(word, more);
    return client.call(configServiceDefinition.reload, { allowDrop: [] });
  };
  const health = async () =>
    (await client.call(healthServiceDefinition.check, { service: 'wins.Echo' })).status;
  const keptEvents = async () => {
    const all = { after: 0, since: '', wait: false };
    return decodeEvents((await client.call(eventsServiceDefinition.read, all)).lines.split('\n'));
  };

  beforeAll(async () => {
    process.env['WINS_RUNTIME_DIR'] = path.join(folder, 'run');
    mkdirSync(path.join(folder, 'run'), { mode: 0o700 });
    write('loud');
    const logger = createLoggerTo(
      { debug: false, quiet: false },
      { write: (line) => lines.push(line) },
    );
    const fingerprint = configFingerprint(file);
    const loaded = await loadDaemonConfig(file);
    daemon = await startDaemon({
      config: { named: file, loaded, refused: undefined, fingerprint },
      system: posix,
      logger,
      level: new LogLevel(logger),
      features,
    });
    client = createWinsClient({ address: daemon.address });
  });
  afterAll(async () => {
    await client.close();
    await daemon.close();
    if (before === undefined) delete process.env['WINS_RUNTIME_DIR'];
    else process.env['WINS_RUNTIME_DIR'] = before;
    rmSync(folder, { recursive: true });
  });

  it('is off until the daemon is ready', async () => {
    await expect(client.call(say, 'one')).rejects.toMatchObject({
      reason: 'echoOff',
      details: 'cannot echo: the daemon is starting',
    });
    await daemon.work();
    expect(await client.call(say, 'one')).toBe('loud one');
  });

  it('has its settings from the config, and nothing is done for equal ones', async () => {
    const { needRestart } = await reload('loud', 'debug: true\n');
    expect(needRestart).toEqual(['debug']);
    expect(actions).toEqual(['start loud']);
    await reload('soft');
    expect(await client.call(say, 'two')).toBe('soft two');
    expect(actions).toEqual(['start loud', 'close loud', 'start soft']);
  });

  it('is tried again when it fails, which is logged and told by its health', async () => {
    expect(await health()).toBe(HealthStatus.SERVING);
    await reload('hard');
    expect(await health()).toBe(HealthStatus.NOT_SERVING);
    await expect(client.call(say, 'three')).rejects.toMatchObject({
      details: 'cannot echo: it cannot start: too hard at first',
    });
    expect(lines.join('')).toMatch(
      /"level":"error".*too hard at first.*"retryMs":1000.*cannot echo anything/,
    );
    await once(changes, 'start');
    expect(await client.call(say, 'three')).toBe('hard three');
    expect(await health()).toBe(HealthStatus.SERVING);
  });

  it('has its events kept, and its metrics, its calls and its decisions counted', async () => {
    const events = await keptEvents();
    const own = events.filter(({ type }) => type === 'echoStarted');
    expect(own.map(({ word }) => word)).toEqual(['loud', 'soft', 'hard']);
    expect(events.filter(({ action }) => action === 'echo')).toHaveLength(5);
    const { text } = await client.call(metricsServiceDefinition.scrape, {});
    expect(text).toContain('wins_echoes_total{kind="started"} 3');
    expect(text).toContain('wins_echoes_total{kind="other"} 0');
    expect(text).toContain('wins_calls_total{method="wins.Echo/Say",code="OK"} 3');
  });

  it('has its check among those of the doctor', async () => {
    await using host = localDoctorHost({ config: file, executable: __filename, system: posix });
    const findings = await examine(host, features);
    expect(findings).toContainEqual({ check: 'echo', level: 'ok', found: 'it can be heard' });
  });

  it('has its condition told, counted and kept, and its health follows it', async () => {
    await reload('hoarse');
    expect(await client.call(say, 'hm')).toBe('hoarse hm');
    const read = { facts: ['echo'] };
    const { conditions, features: told } = await client.call(featureServiceDefinition.read, read);
    expect(told).toEqual([{ name: 'echo', on: true, reason: '', facts: '{"word":"hoarse"}' }]);
    expect(conditions).toContainEqual(
      expect.objectContaining({ check: 'echo', code: 'echoHoarse', level: 'problem' }),
    );
    expect(await health()).toBe(HealthStatus.NOT_SERVING);
    const { text } = await client.call(metricsServiceDefinition.scrape, {});
    expect(text).toContain('wins_conditions{feature="echo",level="problem"} 1');
    await reload('hard');
    expect(await client.call(say, 'hm')).toBe('hard hm');
    expect(await health()).toBe(HealthStatus.SERVING);
    const own = (await keptEvents()).filter(({ code }) => code === 'echoHoarse');
    expect(own.map(({ type }) => type)).toEqual(['conditionBegan', 'conditionEnded']);
  });

  it('has its change made and recorded when an administrator asks for it', async () => {
    const { change } = featureServiceDefinition;
    const { features: told } = await client.call(change, { names: ['echo'], remove: false });
    expect(told).toMatchObject([{ name: 'echo', on: true }]);
    expect(actions.at(-1)).toBe('apply hard');
  });

  it('has a command that asks the running daemon', async () => {
    expect(await sayToDaemon(`${folder}/run/main`, 'command')).toBe('hard command');
  });

  it('judges its part of the config, for each loader', async () => {
    write('mute');
    const { warnings } = await new ConfigLoader(features).load(file);
    expect(warnings).toContainEqual(expect.objectContaining({ found: 'a mute echo' }));
    write('hard');
  });

  it('has its resource among those that clients share', () => {
    const { resources } = daemon.kernel;
    const shares = resources.of('echoes', ECHOES);
    expect(shares).toBe(resources.of('echoes', ECHOES));
    const claim = shares.take(CONTAINER);
    expect([claim !== undefined, shares.take(CONTAINER)]).toEqual([true, undefined]);
    claim?.release();
  });

  it('removes what it left on the host when the node is uninstalled', async () => {
    const from = { configFile: file, isAdopted: false, keepsData: false };
    expect(await removeFeatures(from, undefined, [echo])).toEqual([
      'echo in the hills: it still sounds',
    ]);
    expect(actions.at(-1)).toBe('remove config');
    actions.pop();
  });

  it('is off with a reason when the config says so, and on again', async () => {
    await reload(undefined);
    await expect(client.call(say, 'four')).rejects.toMatchObject({
      details: 'cannot echo: there is no word',
    });
    await reload('late');
    expect(await client.call(say, 'four')).toBe('late four');
  });

  it('ends with the daemon, and does not start again', async () => {
    await daemon.close();
    expect(actions.slice(-4)).toEqual(['apply hard', 'close hard', 'start late', 'close late']);
    await reload('never').catch(() => undefined);
    expect(actions.at(-1)).toBe('close late');
  });
});
