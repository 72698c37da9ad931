import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { recordedExchanges, type RecordedExchange } from '../recorded-exchange-harness.js';
import type { SecretObject } from './secret-table.js';
import { startApiServer, type ApiServer } from './start-api-server.js';

const SECRET = '/api/v1/namespaces/fleet-default/secrets/demo-machine-plan';
const HEADERS = ['cache-control', 'content-type', 'retry-after', 'x-content-type-options'] as const;
const recorded = new Map(recordedExchanges().map((exchange) => [exchange.name, exchange]));

describe('the double of the API server answers as the real one did', () => {
  let server: ApiServer;
  let agent: Agent;
  let put1: SecretObject;
  const streams = new Map<string, IncomingMessage>();

  beforeAll(async () => {
    server = await startApiServer();
    agent = new Agent({ keepAlive: true, ca: server.ca });
  });
  afterAll(async () => {
    agent.destroy();
    await server.close();
  });

  async function send(method: string, path: string, token: string | undefined, body?: object) {
    const request = httpsRequest(server.url + path, {
      agent,
      method,
      headers: {
        'user-agent': 'curl/8.14.1',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
    });
    request.end(body && JSON.stringify(body));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response;
  }

  /** Bodies that the recordings name, but do not contain. */
  const bodies: Readonly<Record<string, () => object>> = {
    '01-create': () => ({
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'rke.cattle.io/machine-plan',
      metadata: { name: 'demo-machine-plan' },
      data: { plan: 'e30=' },
    }),
    '11-put-ok': () => put1,
    '12-put-conflict-409': () => ({ ...put1, data: { plan: 'e30=' } }),
    '13-put-without-rv': () => ({
      ...put1,
      metadata: { ...put1.metadata, resourceVersion: undefined },
      data: { ...put1.data, x: 'eQ==' },
    }),
    '14-put-wrong-uid-409': () => ({
      ...put1,
      metadata: {
        ...put1.metadata,
        resourceVersion: undefined,
        uid: '00000000-0000-0000-0000-000000000000',
      },
    }),
    '15-put-bad-base64-400': () => ({ ...current(), data: { plan: '***' } }),
    '16-put-too-large-422': () => ({
      ...current(),
      data: { plan: Buffer.alloc(1_048_577).toString('base64') },
    }),
    '18-put-other-403': () => ({ ...put1, metadata: { ...put1.metadata, name: 'other' } }),
    '24-put-deleted-404': () => put1,
  };

  function current(): SecretObject {
    const secret = server.read();
    if (secret === undefined) throw new Error('there is no Secret');
    return secret;
  }

  // Exchanges run in order, because each depends on earlier ones.
  it.each([...recorded.values()].filter(({ name }) => /^(0|1\d|2[45])/.test(name)))(
    '$name',
    async (exchange) => {
      const { name, request } = exchange;
      if (request === undefined) throw new Error(`${name} has no request`);
      const token = name.includes('badtoken')
        ? 'wrong'
        : request.isAgent
          ? server.token
          : name.includes('anonymous')
            ? undefined
            : server.adminToken;
      const body = bodies[name]?.();
      const response = await send(request.method, request.path, token, body);
      expectAsRecorded(response, exchange);
      expect(neutral(JSON.parse(await text(response)))).toEqual(neutral(JSON.parse(exchange.body)));

      if (name === '01-create') {
        const { resourceVersion } = current().metadata;
        put1 = { ...current(), data: { plan: 'e30=', 'probe-statuses': 'e30=' } };
        const field = '?watch=true&fieldSelector=metadata.name%3Ddemo-machine-plan';
        const open = async (stream: string, query: string) =>
          void streams.set(
            stream,
            await send('GET', SECRET.replace(/\/[^/]+$/, field + query), server.token),
          );
        const initial =
          '&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
        await open('20-watchlist-stream', initial);
        await open('21-watch-norv-stream', '');
        server.bookmark();
        await open(
          '22-watch-rv-stream',
          `&allowWatchBookmarks=true&resourceVersion=${resourceVersion}`,
        );
      }
      if (name === '19-delete') server.bookmark();
    },
  );

  it.each(['20-watchlist-stream', '21-watch-norv-stream', '22-watch-rv-stream'])(
    '%s',
    async (name) => {
      const exchange = recorded.get(name);
      const response = streams.get(name);
      if (exchange === undefined || response === undefined) throw new Error(`no ${name}`);
      server.endWatches();
      expectAsRecorded(response, exchange);
      expect(linesOf(await text(response))).toEqual(linesOf(exchange.body));
    },
  );

  it('30-list-empty', async () => {
    const exchange = recorded.get('30-list-empty');
    const query = '?limit=500&fieldSelector=metadata.name%3Dnone&resourceVersion=0';
    const path = SECRET.replace(/\/[^/]+$/, query);
    const response = await send('GET', path, server.adminToken);
    expect(neutral(JSON.parse(await text(response)))).toEqual(
      neutral(JSON.parse(exchange?.body ?? '')),
    );
  });

  it('23-watch-rv-future: says nothing until it ends', async () => {
    const query = '?watch=true&fieldSelector=metadata.name%3Ddemo-machine-plan';
    const path = SECRET.replace(/\/[^/]+$/, `${query}&resourceVersion=999999999`);
    const response = await send('GET', path, server.token);
    expect(response.statusCode).toBe(200);
    server.create({ plan: '{}' });
    server.endWatches();
    expect(await text(response)).toBe(recorded.get('23-watch-rv-future')?.body);
  });

  it('29-watch-expired-410', async () => {
    const exchange = recorded.get('29-watch-expired-410') as RecordedExchange;
    server.compact();
    const query = '?watch=true&fieldSelector=metadata.name%3Ddemo-machine-plan&resourceVersion=101';
    const response = await send('GET', SECRET.replace(/\/[^/]+$/, query), server.token);
    expectAsRecorded(response, exchange);
    expect(linesOf(await text(response))).toEqual(linesOf(exchange.body));
  });
});

it('a dry run is checked as any write is, and changes nothing', async () => {
  const server = await startApiServer({ plain: true });
  const secret = server.create({ plan: 'e30=' });
  const put = async (token: string, data: object) => {
    const response = await fetch(`${server.url}${SECRET}?dryRun=All`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ ...secret, data }),
    });
    return [response.status, ((await response.json()) as Partial<SecretObject>).data];
  };
  expect(await put(server.token, { plan: 'YQ==' })).toEqual([200, { plan: 'YQ==' }]);
  expect(await put(server.token, { plan: '***' })).toEqual([400, undefined]);
  expect(await put(server.readerToken, { plan: 'YQ==' })).toEqual([403, undefined]);
  expect(server.read()).toEqual(secret);
  expect(server.events).toHaveLength(1);
  await server.close();
});

function expectAsRecorded(response: IncomingMessage, { status, headers }: RecordedExchange): void {
  expect(response.statusCode).toBe(status);
  for (const name of HEADERS) expect([name, response.headers[name]]).toEqual([name, headers[name]]);
}

function linesOf(body: string): unknown[] {
  return body
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => neutral(JSON.parse(line)));
}

/** Replaces values that vary between runs. */
function neutral(value: unknown): unknown {
  const json = JSON.stringify(value, (key, each: unknown) => {
    if (key === 'resourceVersion') return 'a version';
    if (key === 'creationTimestamp' || key === 'time') return 'a time';
    if (key === 'uid') return 'a uid';
    // Ignores field ownership, which no agent reads.
    if (key === 'fieldsV1') return 'fields';
    if (key !== 'message' || typeof each !== 'string') return each;
    return each
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'a uid')
      .replace(/current: \d+/, 'current: N')
      .replace(/version: \d+ \(\d+\)/, 'version: N (N)');
  });
  return JSON.parse(json) as unknown;
}
