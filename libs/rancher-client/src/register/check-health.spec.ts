import { answer } from '../testing/index.js';
import { closeServers, failureOf, rancher, settings } from '../testing/server-harness.js';
import { checkHealth } from './check-health.js';

afterEach(closeServers);

describe('a server', () => {
  it('is well when it says so', async () => {
    const server = await rancher();
    const trust = { server: new URL(server.url), roots: [server.ca] };
    await checkHealth(trust, {}, settings());
    expect(server.requests.map(({ path }) => path)).toEqual(['/healthz']);
  });

  it.each([
    ['another text', answer(200, 'almost'), '"almost"'],
    ['a page', answer(200, '<html>', { 'content-type': 'text/html' }), 'an HTML page'],
    ['nothing', answer(200), '""'],
  ])('is not Rancher when it says %s', async (_title, fault, found) => {
    const server = await rancher();
    server.script('/healthz', [fault]);
    const trust = { server: new URL(server.url), roots: [server.ca] };
    const failure = await failureOf(checkHealth(trust, {}, settings()));
    expect(failure.code).toBe('badShape');
    expect(failure.message).toContain(`found ${found}; wanted "ok"`);
  });

  it('that is not well is asked again for a minute', async () => {
    const server = await rancher();
    server.script('/healthz', [answer(500, 'etcd failed')], { forEver: true });
    const trust = { server: new URL(server.url), roots: [server.ca] };
    const failure = await failureOf(checkHealth(trust, {}, settings()));
    expect(failure).toMatchObject({ code: 'badStatus', status: 500 });
    expect(failure.message).toMatch(/with "etcd failed"; wanted 200; tried \d+ times in \d+s$/);
  });
});
