import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseConnectionInfo } from './connecting-store.js';
import { nodeReader, type NodeReaderOptions } from './node-reader.js';

const never = new AbortController().signal;
const node = (name: string) => ({ metadata: { name } });
const list = (items: readonly object[], metadata: object) => ({
  kind: 'NodeList',
  items,
  metadata,
});

describe('the nodes of a cluster', () => {
  const open: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0)) await close();
  });
  async function readerOf(
    answer: (url: URL, response: ServerResponse) => void,
    options: Partial<NodeReaderOptions> = {},
  ) {
    const asked: string[] = [];
    const server = createServer(({ url = '', headers }, response) => {
      asked.push(`${url} ${headers.authorization}`);
      answer(new URL(url, 'http://cluster'), response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const kubeConfig = JSON.stringify({
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
      clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}` } }],
      users: [{ name: 'c', user: { token: 'secret-token' } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
    });
    const text = JSON.stringify({ kubeConfig, namespace: 'n', secretName: 's' });
    const reader = nodeReader(parseConnectionInfo(text, '/info'), {
      ...{ strictTls: false, environment: {}, systemRoots: () => [], random: () => 0.5 },
      ...options,
    });
    open.push(async () => {
      reader[Symbol.dispose]();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    });
    return { reader, asked };
  }
  const json = (response: ServerResponse, value: object) => response.end(JSON.stringify(value));

  it('are read page by page, with the token of the node, and have a version', async () => {
    const { reader, asked } = await readerOf(({ searchParams }, response) =>
      json(
        response,
        searchParams.has('continue')
          ? list([node('c')], { resourceVersion: '7' })
          : list([node('a'), node('b')], { continue: 'more &', resourceVersion: '7' }),
      ),
    );
    const nodes: unknown[] = [];
    expect(await reader.list((one) => nodes.push(one), never)).toBe('7');
    expect(nodes).toEqual([node('a'), node('b'), node('c')]);
    expect(asked).toEqual([
      '/api/v1/nodes?limit=50 Bearer secret-token',
      '/api/v1/nodes?limit=50&continue=more+%26 Bearer secret-token',
    ]);
  });

  it('are watched from a version on, until the server ends that', async () => {
    const { reader, asked } = await readerOf((_url, response) => {
      response.write(`${JSON.stringify({ type: 'ADDED', object: node('b') })}\n`);
      response.end(`${JSON.stringify({ type: 'DELETED', object: node('a') })}\n`);
    });
    const events: unknown[] = [];
    await reader.watch('7', (type, object) => events.push([type, object]), never);
    expect(events).toEqual([
      ['ADDED', node('b')],
      ['DELETED', node('a')],
    ]);
    expect(asked[0]).toMatch(/resourceVersion=7&watch=true&timeoutSeconds=2700 /);
  });

  it.each<[string, (url: URL, response: ServerResponse) => void, object]>([
    [
      'it may not read them',
      (_url, response) => json(response.writeHead(403), { message: 'no secret-token' }),
      { code: 'forbidden', message: expect.stringMatching(/403: no \[token\]$/) as string },
    ],
    ['it is no list', (_url, response) => json(response, { kind: 'Status' }), { code: 'refused' }],
    [
      'pages do not end',
      (_url, response) => json(response, list([], { continue: 'x' })),
      { message: expect.stringMatching(/more than 200 pages/) as string },
    ],
    [
      'a page is larger than 4 MiB',
      (_url, response) => response.end(Buffer.alloc(5_000_000, ' ')),
      { code: 'refused' },
    ],
  ])('cannot be listed when %s', async (_what, answer, wanted) => {
    const { reader } = await readerOf(answer);
    await expect(reader.list(() => undefined, never)).rejects.toMatchObject(wanted);
  });

  it('cannot be watched from a version that is gone, nor in silence', async () => {
    const gone = { type: 'ERROR', object: { code: 410, message: 'too old' } };
    const { reader } = await readerOf((_url, response) =>
      response.end(JSON.stringify(gone) + '\n'),
    );
    const ignored = (): void => undefined;
    await expect(reader.watch('7', ignored, never)).rejects.toMatchObject({ code: 'expired' });
    const silent = await readerOf((_url, response) => response.writeHead(200).flushHeaders(), {
      silenceMs: 20,
    });
    await expect(silent.reader.watch('7', ignored, never)).rejects.toMatchObject({
      ...{ code: 'unreachable', message: expect.stringMatching(/nothing arrived/) as string },
    });
  });
});
