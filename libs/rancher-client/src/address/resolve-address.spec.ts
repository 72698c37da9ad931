import { networkInterfaces } from 'node:os';
import { answer, redirectTo, silent, type RancherFault } from '../testing/index.js';
import { closeServers, failureOf, proxy, rancher, settings } from '../testing/server-harness.js';
import { AWS_SESSION, CLOUD_WORDS, resolveAddress } from './resolve-address.js';

afterEach(closeServers);

const adapters = new Map([
  ['Ethernet 2', ['fe80::2', 'fd00::2', '10.0.0.2', '10.0.0.3']],
  ['Ethernet, left', ['10.0.0.4']],
  ['vEthernet (nat)', ['169.254.7.7', '172.20.0.1']],
  ['made-up', ['169.254.7.7']],
  ['only-ipv6', ['fe80::6', 'fd00::6']],
  ['bare', []],
]);
const own = { ...settings(), addressesOf: (name: string) => adapters.get(name) };

describe('the address of a node', () => {
  it.each([
    ['', ''],
    ['  ', ''],
    [' 192.0.2.1 ', '192.0.2.1'],
    ['2001:db8::1', '2001:db8::1'],
    ['node-1.example.com', 'node-1.example.com'],
    ['Ethernet 2', '10.0.0.2'],
    ['vEthernet (nat)', '172.20.0.1'],
    ['made-up', '169.254.7.7'],
    ['only-ipv6', 'fd00::6'],
    ['Ethernet, left', '10.0.0.4'],
    ['10.0.0.5,fd00::5', '10.0.0.5,fd00::5'],
    [' 127.0.0.1 , fe80::1, ', '127.0.0.1,fe80::1'],
    ['Ethernet 2,Ethernet 2', '10.0.0.2,fd00::2'],
    ['Ethernet 2,fd00::5', '10.0.0.2,fd00::5'],
    ['10.0.0.5,Ethernet 2', '10.0.0.5,fd00::2'],
    ['fd00::5,Ethernet 2', 'fd00::5,10.0.0.2'],
    ['node-1.example.com,Ethernet 2', 'node-1.example.com,10.0.0.2'],
  ])('given as %j is %j', async (text, address) => {
    expect(await resolveAddress(text, own)).toBe(address);
  });

  it.each([
    ['bare', 'no other address'],
    ['made-up,made-up', 'no other address than those in the list'],
    ['10.0.0.5,Ethernet 3', '"Ethernet 3": there is no adapter of this name'],
    ['10.0.0.5,fd00::5\r\nX-Cattle-Role-Etcd: true', 'there is no adapter of this name'],
    ['Ethernet 3', 'there is no adapter of this name'],
    ['a\r\nb', 'there is no adapter of this name'],
    ['http://192.0.2.1', 'there is no adapter of this name'],
    [`${'a'.repeat(64)}.example`, 'there is no adapter of this name'],
  ])('is refused as %j', async (text, found) => {
    const failure = await failureOf(resolveAddress(text, own));
    expect(failure.code).toBe('invalidRequest');
    expect(failure.message).toContain(found);
  });

  it('is that of an adapter of this node', async () => {
    const [name = '', addresses = []] =
      Object.entries(networkInterfaces()).find(([, all]) =>
        all?.some(({ family }) => family === 'IPv4'),
      ) ?? [];
    const ipv4 = addresses.filter(({ family }) => family === 'IPv4');
    expect(ipv4.map(({ address }) => address)).toContain(await resolveAddress(name, settings()));
  });
});

describe('a word of a cloud', () => {
  const metadata = async (fault: RancherFault) => {
    const server = await rancher({ plain: true });
    for (const { path, hasSession } of CLOUD_WORDS.values()) {
      server.script(path.replace(/\?.*$/, ''), [fault], { forEver: true });
      if (hasSession)
        server.script(AWS_SESSION.path, [answer(200, 'session-canary')], { forEver: true });
    }
    return { server, services: { linkLocal: server.url } };
  };

  it.each([
    ['awslocal', '/latest/meta-data/local-ipv4', { 'x-aws-ec2-metadata-token': 'session-canary' }],
    [
      'awspublic',
      '/latest/meta-data/public-ipv4',
      { 'x-aws-ec2-metadata-token': 'session-canary' },
    ],
    ['doprivate', '/metadata/v1/interfaces/private/0/ipv4/address', {}],
    ['dopublic', '/metadata/v1/interfaces/public/0/ipv4/address', {}],
    [
      'gceinternal',
      '/computeMetadata/v1/instance/network-interfaces/0/ip',
      { 'metadata-flavor': 'Google' },
    ],
    [
      'gceexternal',
      '/computeMetadata/v1/instance/network-interfaces/0/access-configs/0/external-ip',
      { 'metadata-flavor': 'Google' },
    ],
    ['azprivate', expect.stringContaining('/privateIpAddress?') as unknown, { metadata: 'true' }],
    ['azpublic', expect.stringContaining('/publicIpAddress?') as unknown, { metadata: 'true' }],
  ])('%s is asked for as its cloud wants it', async (word, path, headers) => {
    const { server, services } = await metadata(answer(200, '10.1.2.3\n'));
    expect(await resolveAddress(word, { ...own, services })).toBe('10.1.2.3');
    expect(server.requests.at(-1)).toMatchObject({ method: 'GET', path, headers });
  });

  it('of AWS is asked for in a session', async () => {
    const { server, services } = await metadata(answer(200, '10.1.2.3'));
    await resolveAddress('awslocal', { ...own, services });
    expect(server.requests[0]).toMatchObject({
      method: 'PUT',
      path: '/latest/api/token',
      headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '60' },
    });
  });

  it('may be one of the addresses of a node', async () => {
    const { services } = await metadata(answer(200, '10.1.2.3\n'));
    const address = await resolveAddress('awslocal,Ethernet 2', { ...own, services });
    expect(address).toBe('10.1.2.3,fd00::2');
  });

  it('is asked for without a proxy', async () => {
    const between = await proxy({ hosts: {} });
    const services = { linkLocal: 'http://metadata.invalid' };
    const environment = { HTTP_PROXY: between.host };
    const failure = await failureOf(resolveAddress('dopublic', { ...own, environment, services }));
    expect(failure.code).toBe('nameResolution');
    expect(between.requests).toEqual([]);
  });

  it('ipify is asked over TLS, through the proxy', async () => {
    const server = await rancher({ names: ['ipify.invalid'] });
    server.script('/', [answer(200, '203.0.113.9')]);
    const between = await proxy({ hosts: { 'ipify.invalid:443': server.port } });
    const services = { ipify: 'https://ipify.invalid' };
    const environment = { HTTPS_PROXY: between.host };
    const systemRoots = () => [server.ca];
    const options = { ...own, environment, services, systemRoots };
    expect(await resolveAddress('ipify', options)).toBe('203.0.113.9');
    const unknown = { ...options, systemRoots: () => [] };
    expect(await failureOf(resolveAddress('ipify', unknown))).toMatchObject({
      code: 'unknownAuthority',
    });
  });

  it.each([
    ['nothing', answer(200, ''), 'badShape'],
    ['a page', answer(200, '<html>'), 'badShape'],
    ['two addresses', answer(200, '10.0.0.1\n10.0.0.2'), 'badShape'],
    ['a header', answer(200, '10.0.0.1\r\nX-Cattle-Role-Etcd: true'), 'badShape'],
    ['too much', answer(200, 'x'.repeat(5000)), 'tooLarge'],
    ['404', answer(404, 'no'), 'badStatus'],
    ['a redirect', redirectTo('http://127.0.0.1:1/'), 'redirectRefused'],
  ])('that is answered by %s is refused', async (_title, fault, code) => {
    const { services } = await metadata(fault);
    const failure = await failureOf(resolveAddress('awspublic', { ...own, services }));
    expect(failure.code).toBe(code);
    expect(failure.message).toMatch(/^cannot find the address that awspublic stands for: /);
    expect(failure.message).not.toContain('session-canary');
  });

  it('that is not answered is refused after a limit', async () => {
    const { services } = await metadata(silent);
    const limits = { answerMs: 100 };
    const failure = await failureOf(resolveAddress('dopublic', { ...own, limits, services }));
    expect(failure.code).toBe('timedOut');
  });
});
