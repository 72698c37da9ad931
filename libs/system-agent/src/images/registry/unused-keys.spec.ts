import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { posixFileTrust } from '@wins/trusted-files';
import { readRegistries } from './registries-file.js';
import { unusedKeys } from './unused-keys.js';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'wins-registries-'))));
afterEach(() => rmSync(folder, { recursive: true }));

/** The warnings, without the file that each names. */
async function warningsFor(text: string): Promise<readonly string[]> {
  const file = join(folder, 'registries.yaml');
  writeFileSync(file, text);
  const warnings = unusedKeys(await readRegistries([file], posixFileTrust()));
  return warnings.map((warning) => warning.replace(` of ${file}`, ''));
}

const CONFIG = 'tls: { insecure_skip_verify: yes }';
const LOGIN = 'auth: { username: u, password: canary }';

describe('registries.yaml has a key that nothing uses:', () => {
  it.each([
    [
      'a quotation mark too many',
      `mirrors:\n  docker.io:\n    endpoint":\n      - https://m.example\n`,
      ['nothing uses "mirrors.docker.io.endpoint\\"": wanted endpoint or rewrite'],
    ],
    [
      'the plural of a key',
      'mirrors: { docker.io: { endpoints: [https://m.example] } }',
      ['nothing uses "mirrors.docker.io.endpoints": wanted endpoint or rewrite'],
    ],
    [
      'another letter case',
      'Mirrors: { docker.io: { endpoint: [https://m.example] } }',
      ['nothing uses "Mirrors": wanted mirrors or configs'],
    ],
    [
      'an old section',
      `auths: { h.example: { ${LOGIN} } }`,
      ['nothing uses "auths": wanted mirrors or configs'],
    ],
    [
      'a section below another',
      `mirrors: { m.example: { endpoint: [https://h.example] }, configs: { h.example: { ${LOGIN} } } }`,
      ['nothing uses "mirrors.configs": "configs" belongs to the top level of the file'],
    ],
    [
      'a section below a mirror',
      `mirrors: { m.example: { endpoint: [https://h.example], configs: { h.example: { ${LOGIN} } } } }`,
      ['nothing uses "mirrors.m.example.configs": wanted endpoint or rewrite'],
    ],
    [
      'a login without its section',
      'configs: { h.example: { username: u, password: canary } }',
      [
        'nothing uses "configs.h.example.username": wanted auth or tls',
        'nothing uses "configs.h.example.password": wanted auth or tls',
      ],
    ],
    [
      'a key of the wrong section',
      'configs: { h.example: { tls: { ca: /x } } }',
      [
        'nothing uses "configs.h.example.tls.ca": wanted ca_file, cert_file, key_file or insecure_skip_verify',
      ],
    ],
    [
      'a key that may be a secret',
      `configs: { h.example: { auth: { canary: canary } }, i.example: { "u:canary": x } }`,
      [
        'nothing uses "configs.h.example.auth": it has another key than username, password, auth and identity_token',
        'nothing uses "configs.i.example.…": wanted auth or tls',
      ],
    ],
    [
      'a password without a name',
      'configs: { h.example: { auth: { password: canary } } }',
      ['nothing uses "configs.h.example.auth.password": "username" is missing'],
    ],
    [
      'another login beside a name',
      'configs: { h.example: { auth: { username: u, password: p, auth: Y2FuYXJ5OmI= } } }',
      ['nothing uses "configs.h.example.auth.auth": "username" has precedence'],
    ],
    [
      'no login beside a token',
      'configs: { h.example: { auth: { identity_token: t, auth: canary } } }',
      ['nothing uses "configs.h.example.auth.auth": it is not base64 of name:password'],
    ],
    [
      'a rewrite without an endpoint',
      'mirrors: { m.example: { rewrite: { a: b } } }',
      ['nothing uses "mirrors.m.example.rewrite": "endpoint" is missing'],
    ],
    [
      'a host with a scheme and a path',
      `configs: { "http://h.example:5000/v2/": { ${LOGIN} } }`,
      [
        'nothing uses "configs.http://h.example:5000/v2/": wanted a host, with or without a port, here "h.example:5000"',
      ],
    ],
    [
      'a host with a password',
      `configs: { "https://u:canary@h.example": { ${CONFIG} }, "u:canary@i.example": { ${CONFIG} } }`,
      [
        'nothing uses "configs.https://***@h.example": wanted a host, with or without a port, here "h.example"',
        'nothing uses "configs.***@i.example": wanted a host, with or without a port, here "i.example"',
      ],
    ],
    [
      'a host with a wrong port',
      `configs: { "h.example:99999": { ${CONFIG} } }`,
      ['nothing uses "configs.h.example:99999": wanted a host, with or without a port'],
    ],
    [
      'a host that no address has',
      `configs: { "[FD00::0005]:5000": { ${CONFIG} } }`,
      [
        'nothing uses "configs.[FD00::0005]:5000": wanted a host, with or without a port, here "[fd00::5]:5000"',
      ],
    ],
    [
      'a repository in place of a registry',
      'mirrors: { docker.io/rancher: { endpoint: [https://m.example] } }',
      [
        'nothing uses "mirrors.docker.io/rancher": wanted a host, with or without a port, here "docker.io"',
      ],
    ],
    [
      'a second name of Docker Hub',
      `mirrors: { index.docker.io: { endpoint: [https://m.example] }, docker.io: { endpoint: [https://m.example] } }\nconfigs: { registry-1.docker.io: { ${LOGIN} }, index.docker.io: { ${LOGIN} } }`,
      [
        'nothing uses "mirrors.index.docker.io": "mirrors.docker.io" has precedence',
        'nothing uses "configs.registry-1.docker.io": "configs.index.docker.io" has precedence',
      ],
    ],
    [
      'a host in two letter cases',
      `configs: { H.example: { ${LOGIN} }, h.example: { ${LOGIN} } }`,
      ['nothing uses "configs.h.example": "configs.H.example" has precedence'],
    ],
    [
      'a host with and without its port',
      `configs: { "h.example:443": { ${LOGIN} }, h.example: { ${LOGIN} } }`,
      ['nothing uses "configs.h.example:443": "configs.h.example" has precedence'],
    ],
  ])('%s', async (_title, text, warnings) => {
    const found = await warningsFor(text);
    expect(found).toEqual(warnings);
    expect(found.join()).not.toMatch(/canary|Y2Fu/);
  });

  it('some keys are named, the others counted', async () => {
    const keys = Array.from({ length: 1000 }, (_, index) => `k${index}: x`).join(', ');
    const warnings = await warningsFor(`configs: { h.example: { ${keys} } }`);
    expect(warnings).toHaveLength(21);
    expect(warnings.at(-1)).toBe('nothing uses 980 more keys');
  });
});

it.each([
  ['an empty file', ''],
  [
    'a registry that has no mirror',
    `configs: { h.example: { ${LOGIN} }, "[::1]:5000": { ${LOGIN} } }`,
  ],
  ['a name of one part, which an endpoint may have', `configs: { harbor: { ${LOGIN} } }`],
  [
    'every other host',
    `mirrors: { "*": { endpoint: [https://h] } }\nconfigs: { "*": { ${LOGIN} } }`,
  ],
  [
    'a host with its port, of an endpoint by HTTP',
    `mirrors: { m.example: { endpoint: ["http://h.example:443"] } }\nconfigs: { h.example: { ${LOGIN} }, "h.example:443": { ${LOGIN} } }`,
  ],
  [
    'the ports of a mirrored registry',
    'mirrors: { h.example: { endpoint: [a.example] }, "h.example:443": { endpoint: [a.example] }, "h.example:80": { endpoint: [a.example] } }',
  ],
  [
    'an anchor at the top level',
    `x: &all { ${CONFIG} }\ny: { z: &t { ca_file: /x } }\nconfigs: { h.example: *all }`,
  ],
  [
    'a merged anchor',
    `x: &all { ${CONFIG} }\nconfigs:\n  h.example:\n    <<: *all\n    ${LOGIN}\n`,
  ],
  [
    'the same login twice',
    'configs: { h.example: { auth: { username: u, password: p, auth: dTpw } } }',
  ],
  [
    'what Rancher writes',
    '{"mirrors":{"m.example":{"endpoint":["https://h.example"],"rewrite":null},"x":null},"configs":{"h.example":{"auth":{"username":"","password":"","auth":"","identity_token":""},"tls":{"ca_file":"","cert_file":"","key_file":"","insecure_skip_verify":false}},"i.example":null},"auths":null}',
  ],
])('registries.yaml has a use for %s', async (_title, text) => {
  expect(await warningsFor(text)).toEqual([]);
});
