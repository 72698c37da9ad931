import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ModelNode, release } from '../testing/model-node.js';

describe('an upgrade that leaves its run', () => {
  let node: ModelNode;
  let asked: string;

  beforeEach(() => {
    node = new ModelNode();
    asked = path.join(node.folder, 'asked');
  });
  afterEach(() => node[Symbol.dispose]());

  const noting = (version: string): string =>
    release(version).replace('\n', `\n[ "$1" = --version ] && echo ${version} >> '${asked}'\n`);
  const asks = (): string[] =>
    existsSync(asked) ? readFileSync(asked, 'utf8').trim().split('\n').sort() : [];

  it('asks each program once which release it is, though it is planned twice', async () => {
    node.install(noting('v1.0.0'), true);
    const next = noting('v1.1.0');
    expect(await node.upByHelper(node.offer(next))).toBe('upgraded');
    expect([asks(), node.installed]).toEqual([['v1.0.0', 'v1.1.0'], next]);
    expect(node.violations).toEqual([]);
  });

  it('leaves no helper where there is nothing for one to do', async () => {
    node.install(noting('v1.1.0'), true);
    const program = node.offer(noting('v1.0.0'));
    expect(await node.upByHelper(program, new Map(), { allowDowngrade: false })).toBe('refused');
    expect(asks()).toEqual(['v1.0.0', 'v1.1.0']);
    expect(node.leftovers).toEqual([]);
  });

  it('plans nothing while an interrupted upgrade is to be finished or undone first', async () => {
    node.install(noting('v1.0.0'), true);
    expect(await node.up(node.offer(noting('v1.1.0')), new Map([[8, 'after']]))).toBe('died');
    expect(readdirSync(node.paths.folder)).toContain('journal.json');
    const next = noting('v1.2.0');
    expect(await node.upByHelper(node.offer(next))).toBe('upgraded');
    expect(node.installed).toBe(next);
  });

  it('leaves the files of an interrupted upgrade when it is only planned', async () => {
    node.install(release('v1.0.0'), true);
    const program = node.offer(release('v1.1.0'));
    expect(await node.up(program, new Map([[8, 'after']]))).toBe('died');
    const found = readdirSync(node.paths.folder);
    expect(await node.planOnly(program)).toBe('none');
    expect(readdirSync(node.paths.folder)).toEqual(expect.arrayContaining(found));
    await node.boot();
    expect([release('v1.0.0'), release('v1.1.0')]).toContain(node.installed);
    expect(node.violations).toEqual([]);
  });
});
