import { CANARY, NodeWorld, startCluster } from '../testing/node/node-world.js';

const BROKEN = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';

describe('a node whose server', () => {
  it('has a broken block beside its authority joins with a warning, and its agent reaches the server', async () => {
    await using cluster = await startCluster();
    await using world = new NodeWorld();
    const { rancher, api } = cluster;
    // Rancher sends its authorities both at `/cacerts` and in the connection info.
    rancher.caCerts = BROKEN + rancher.ca;
    rancher.connectionInfo = JSON.parse(api.connectionInfo({ ca: BROKEN + api.ca })) as unknown;
    const variables = { ...cluster.variables, STRICT_VERIFY: 'true' };
    const dry = await world.say(['join', '--dry-run'], variables);
    expect([dry.code, dry.outcome]).toEqual([0, 'planned']);
    const said = await world.say(['join'], variables);
    expect([said.code, said.outcome]).toEqual([0, 'installed']);
    for (const location of ['/cacerts', 'certificate-authority-data" of the kubeconfig'])
      expect(said.stderr).toMatch(new RegExp(`ignoring block 1 of .*${location}: `));
    expect(world.text(world.authorities)).toBe(rancher.ca);
    expect(JSON.parse(world.text(world.connectionInfo))).toEqual(rancher.connectionInfo);
    expect(api.requests.length).toBeGreaterThan(0);
    expect((await world.say(['join'], variables)).outcome).toBe('nothing');
  });

  it('has no TLS joins only with --allow-http, which its agent also uses', async () => {
    await using cluster = await startCluster({ plain: true });
    await using world = new NodeWorld();
    const { rancher, api } = cluster;
    // With this address, the server looks like another machine.
    const server = api.url.replace('127.0.0.1', '0.0.0.0');
    rancher.connectionInfo = JSON.parse(api.connectionInfo({ server })) as unknown;
    const refused = await world.say(['join'], cluster.variables);
    expect([refused.code, refused.outcome]).toEqual([65, 'refused']);
    expect(rancher.requests).toEqual([]);
    const said = await world.say(['join', '--allow-http'], cluster.variables);
    expect([said.code, said.outcome]).toEqual([0, 'installed']);
    expect(said.stderr).toContain('in clear text');
    expect(said.stderr).not.toContain(CANARY);
    expect(JSON.parse(world.text(world.connectionInfo))).toMatchObject({ allowHttp: true });
    expect(api.requests.length).toBeGreaterThan(0);
  });
});
