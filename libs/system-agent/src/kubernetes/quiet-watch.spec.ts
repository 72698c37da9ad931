import { startForgetfulBox } from '../testing/forgetful-box.js';
import { isWatch, serve, stops, storeOf, watching } from '../testing/store-harness.js';

describe('a watch on which nothing arrives', () => {
  const setUp = async (quietMs = 20) => {
    const server = await serve();
    server.create({ plan: 'first' });
    const between = await startForgetfulBox(server.url);
    stops.push(() => between.close());
    const options = { quietMs, answerMs: 1000 };
    const watch = watching(storeOf(server, options, { server: between.url }));
    await watch.connected();
    return { server, between, watch };
  };
  const isLook = (request: Parameters<typeof isWatch>[0]) => !isWatch(request);

  it('is made anew when something on the way has forgotten it, and tells what came meanwhile', async () => {
    const { server, between, watch } = await setUp();
    between.forget('open');
    server.update({ plan: 'second' });
    expect(await watch.reports(2)).toEqual(['first', 'second']);
    expect(watch.failures()).toEqual(['unreachable']);
  });

  it('tells also that the Secret is gone, or another one', async () => {
    const { server, between, watch } = await setUp();
    between.forget('open');
    server.remove();
    expect(await watch.reports(2)).toEqual(['first', 'none']);
    between.forget('open');
    server.create({ plan: 'third' });
    expect(await watch.reports(3)).toEqual(['first', 'none', 'third']);
  });

  it('ends when the API server cannot be reached any more', async () => {
    const { between, watch } = await setUp();
    between.forget('all');
    await watch.until(() => watch.failures().length > 0);
    expect(watch.failures()[0]).toBe('unreachable');
  });

  it('ends when the token has ended, which the server does not tell a watch', async () => {
    const { server, watch } = await setUp();
    server.rotateToken();
    await watch.until(() => watch.failures().length > 0);
    expect(watch.failures()[0]).toBe('unauthorized');
  });

  it('goes on where nothing has changed, and where the server refuses to say', async () => {
    const { server, watch } = await setUp();
    for (let looks = 0; looks < 3; looks += 1) await server.nextRequest(isLook);
    server.fault((_request, response) => void response.writeHead(429).end(), { when: isLook });
    for (let looks = 0; looks < 3; looks += 1) await server.nextRequest(isLook);
    server.fault(undefined);
    server.update({ plan: 'second' });
    expect(await watch.reports(2)).toEqual(['first', 'second']);
    expect(watch.states).toEqual([{ kind: 'connected' }]);
    expect(server.requests.filter(isWatch)).toHaveLength(1);
  });

  it('asks for the version alone', async () => {
    const { server } = await setUp();
    const { path, headers } = await server.nextRequest(isLook);
    expect(path).toBe('/api/v1/namespaces/fleet-default/secrets/demo-machine-plan');
    expect(headers.accept).toContain('as=PartialObjectMetadata');
  });
});
