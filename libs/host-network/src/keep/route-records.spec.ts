import { posixFileTrust } from '@wins/trusted-files';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Owned } from '../plan/plan.js';
import { routeRecords } from './route-records.js';

const ROUTES: readonly Owned[] = [
  {
    item: { kind: 'forwarding', key: 'e1', value: '1' },
    state: 'applied',
    prior: '0',
  },
  {
    route: { destination: '10.1.0.0/16', gateway: '172.16.0.3', interface: 'e1', metric: 256 },
    state: 'pending',
  },
];

describe('the record of routes', () => {
  let folder: string;
  let damaged: string[];
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-routes-'));
    damaged = [];
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const fileIn = () => path.join(folder, 'state', 'routes.json');
  const recordsOf = (boot = 'this boot') =>
    routeRecords({
      path: fileIn(),
      trust: posixFileTrust(),
      host: { bootMark: () => boot, isThisBoot: (mark) => mark === boot },
      onDamaged: (file) => damaged.push(file),
    });

  it('is read as it was written, from a private file, and is gone with its last route', async () => {
    const records = recordsOf();
    expect(await records.read()).toEqual([]);
    await records.write(ROUTES);
    expect(await recordsOf().read()).toEqual(ROUTES);
    expect(statSync(fileIn()).mode & 0o777).toBe(0o600);
    await records.write([]);
    expect(readdirSync(path.join(folder, 'state'))).toEqual([]);
  });

  it('counts as empty after another boot', async () => {
    await recordsOf().write(ROUTES);
    expect(await recordsOf('another boot').read()).toEqual([]);
  });

  it.each([
    '',
    'null',
    '{"format":1',
    '{"format":2,"boot":"this boot","routes":[]}',
    '{"format":1,"boot":"this boot","routes":{}}',
    '{"format":1,"boot":"this boot","routes":[{}]}',
    '{"format":1,"boot":"this boot","routes":[{"state":"applied","route":{"destination":7}}]}',
    JSON.stringify({ format: 1, boot: 'this boot', routes: [{ ...ROUTES[1], state: 'mine' }] }),
    JSON.stringify({ format: 1, boot: 'this boot', routes: [], items: {} }),
    ...[
      { item: { kind: 'disk', key: 'a', value: '' } },
      { prior: 'x; reboot' },
      { state: 'mine' },
    ].map((wrong) =>
      JSON.stringify({
        format: 1,
        boot: 'this boot',
        routes: [],
        items: [{ ...ROUTES[0], ...wrong }],
      }),
    ),
  ])('owns nothing if its content is invalid: %s', async (content) => {
    mkdirSync(path.dirname(fileIn()));
    writeFileSync(fileIn(), content);
    expect([await recordsOf().read(), damaged]).toEqual([[], [fileIn()]]);
  });

  it('is not read through a link, nor when others may write it', async () => {
    const elsewhere = path.join(folder, 'elsewhere');
    mkdirSync(path.dirname(fileIn()));
    writeFileSync(elsewhere, JSON.stringify({ format: 1, boot: 'this boot', routes: ROUTES }));
    symlinkSync(elsewhere, fileIn());
    await expect(recordsOf().read()).rejects.toMatchObject({ name: 'TrustedFileError' });
    rmSync(fileIn());
    writeFileSync(fileIn(), '');
    chmodSync(fileIn(), 0o666);
    await expect(recordsOf().read()).rejects.toMatchObject({ code: 'notTrusted' });
  });
});
