import {
  Client,
  credentials,
  status,
  type ClientReadableStream,
  type ServiceError,
} from '@grpc/grpc-js';
import {
  healthServiceDefinition,
  HealthStatus,
  type HealthCheckResponse,
  type HealthListResponse,
} from '@wins/wins-api/contract';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Health } from './health.js';
import { CONTAINER } from '../../testing/client-identities.js';
import { serveCalls } from '../../testing/serve-calls.js';

const { check, list, watch } = healthServiceDefinition;

describe('health', () => {
  let folder: string;
  let health: Health;
  let served: AsyncDisposable;
  let clients: Client[];

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-health-'));
    health = new Health(['', 'wins.csi-proxy', 'wins.PlanService', 'wins.ProcessService']);
    clients = [];
    let clientCount = 0;
    served = await serveCalls(
      path.join(folder, 's'),
      (server) => health.addTo(server),
      undefined,
      () => ({ ...CONTAINER, key: `container:${(clientCount += 1)}` }),
    );
  });
  afterEach(async () => {
    for (const client of clients) client.close();
    await served[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  function connect(): Client {
    const client = new Client(`unix:${path.join(folder, 's')}`, credentials.createInsecure(), {
      'grpc.use_local_subchannel_pool': 1,
    });
    clients.push(client);
    return client;
  }
  const ask = (client: Client, service: string) =>
    new Promise<HealthCheckResponse>((resolve, reject) => {
      const { path: method, requestSerialize, responseDeserialize } = check;
      client.makeUnaryRequest(
        method,
        requestSerialize,
        responseDeserialize,
        { service },
        (error, answer) => {
          if (answer !== undefined) resolve(answer);
          else reject(error ?? new Error('no answer'));
        },
      );
    });
  const follow = (client: Client, service: string): ClientReadableStream<HealthCheckResponse> =>
    client
      .makeServerStreamRequest(watch.path, watch.requestSerialize, watch.responseDeserialize, {
        service,
      })
      .on('error', () => undefined);
  const next = async (call: ClientReadableStream<HealthCheckResponse>): Promise<HealthStatus> => {
    const [answer] = (await once(call, 'data')) as [HealthCheckResponse];
    return answer.status;
  };
  const failed = async (call: ClientReadableStream<HealthCheckResponse>) => {
    const [error] = (await once(call, 'error')) as [ServiceError];
    return error.code;
  };

  it.each(['', 'wins.ProcessService'])('says whether %j takes new work', async (service) => {
    const client = connect();
    expect(await ask(client, service)).toEqual({ status: HealthStatus.NOT_SERVING });
    health.set(true);
    expect(await ask(client, service)).toEqual({ status: HealthStatus.SERVING });
  });

  it('says of the plans alone that they cannot be followed', async () => {
    const client = connect();
    health.set(true);
    const plans = follow(client, 'wins.PlanService');
    expect(await next(plans)).toBe(HealthStatus.SERVING);
    health.setWell('wins.PlanService', false);
    expect(await next(plans)).toBe(HealthStatus.NOT_SERVING);
    expect(await ask(client, '')).toEqual({ status: HealthStatus.SERVING });
    health.setWell('wins.PlanService', true);
    expect(await next(plans)).toBe(HealthStatus.SERVING);
  });

  it('says of csi-proxy alone that it is not as it should be', async () => {
    const client = connect();
    health.set(true);
    health.setWell('wins.csi-proxy', false);
    const { NOT_SERVING, SERVING } = HealthStatus;
    expect(await ask(client, 'wins.csi-proxy')).toEqual({ status: NOT_SERVING });
    for (const other of ['', 'wins.PlanService'])
      expect(await ask(client, other)).toEqual({ status: SERVING });
    health.setWell('wins.csi-proxy', true);
    expect(await ask(client, 'wins.csi-proxy')).toEqual({ status: SERVING });
  });

  it('knows of the server of the plans while one is followed, and says whether it is connected', async () => {
    const client = connect();
    health.set(true);
    const server = follow(client, 'wins.PlanService.Server');
    const { NOT_SERVING, SERVICE_UNKNOWN, SERVING } = HealthStatus;
    expect(await next(server)).toBe(SERVICE_UNKNOWN);
    await expect(ask(client, 'wins.PlanService.Server')).rejects.toMatchObject({
      code: status.NOT_FOUND,
    });
    for (const isConnected of [false, true, false, undefined]) {
      health.setWell('wins.PlanService.Server', isConnected);
      const wanted =
        isConnected === undefined ? SERVICE_UNKNOWN : isConnected ? SERVING : NOT_SERVING;
      expect(await next(server)).toBe(wanted);
    }
    expect(await ask(client, 'wins.PlanService')).toEqual({ status: SERVING });
  });

  it.each(['wins.Nothing', 'x'.repeat(100_000), '?'])(
    'knows no other service, and does not repeat its name',
    async (service) => {
      const error = await ask(connect(), service).catch((found: unknown) => found);
      expect(error).toMatchObject({
        code: status.NOT_FOUND,
        details: 'there is no service of this name',
      });
    },
  );

  it('lists the services that it answers for', async () => {
    const answer = await new Promise<HealthListResponse>((resolve, reject) => {
      const { path: method, requestSerialize, responseDeserialize } = list;
      connect().makeUnaryRequest(
        method,
        requestSerialize,
        responseDeserialize,
        {},
        (error, found) => {
          if (found !== undefined) resolve(found);
          else reject(error ?? new Error('no answer'));
        },
      );
    });
    expect(Object.keys(answer.statuses)).toHaveLength(4);
    expect(answer.statuses['wins.ProcessService']).toEqual({ status: HealthStatus.NOT_SERVING });
  });

  it('tells those who watch of each change, once', async () => {
    const call = follow(connect(), '');
    expect(await next(call)).toBe(HealthStatus.NOT_SERVING);
    health.set(false);
    health.set(true);
    expect(await next(call)).toBe(HealthStatus.SERVING);
  });

  it('tells those who watch what does not exist that it is unknown, and nothing more', async () => {
    const client = connect();
    const stranger = follow(client, 'wins.Nothing');
    const call = follow(client, '');
    expect(await next(stranger)).toBe(HealthStatus.SERVICE_UNKNOWN);
    expect(await next(call)).toBe(HealthStatus.NOT_SERVING);
    const told: unknown[] = [];
    stranger.on('data', (answer) => told.push(answer));
    health.set(true);
    // Both calls share the connection, so an answer to `stranger` would have arrived before this message.
    expect(await next(call)).toBe(HealthStatus.SERVING);
    expect(told).toEqual([]);
  });

  it('lets a client watch as often as its share allows, and again after it has cancelled', async () => {
    const client = connect();
    const calls = Array.from({ length: 32 }, () => follow(client, 'x'));
    expect(new Set(await Promise.all(calls.map(next)))).toEqual(
      new Set([HealthStatus.SERVICE_UNKNOWN]),
    );
    expect(await failed(follow(client, ''))).toBe(status.RESOURCE_EXHAUSTED);
    calls[0]?.cancel();
    // The server has read the cancellation when it answers a later call.
    await ask(client, '');
    expect(await next(follow(client, ''))).toBe(HealthStatus.NOT_SERVING);
  });

  it('ends the newest watch of who has the most when there are no more, and another client watches', async () => {
    const [first, second] = [connect(), connect()];
    const watched = [first, second].map((client) =>
      Array.from({ length: 30 }, () => follow(client, '')),
    );
    await Promise.all(watched.flat().map(next));
    const newest = watched.map((calls) => failed(calls.at(-1) as (typeof calls)[number]));
    expect(await next(follow(connect(), ''))).toBe(HealthStatus.NOT_SERVING);
    expect(await Promise.race(newest)).toBe(status.RESOURCE_EXHAUSTED);
  });
});
