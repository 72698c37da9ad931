import { readFileSync, writeFileSync } from 'node:fs';
import { ModelNode, release } from '../testing/model-node.js';

const REQUEST = { allowDowngrade: true, winsArgs: '--config c' };

describe('an upgrade that cannot register a service', () => {
  let node: ModelNode;

  beforeEach(() => {
    node = new ModelNode();
  });
  afterEach(() => node[Symbol.dispose]());

  it('leaves the program that was there before, of which no service ran', async () => {
    const program = release('v1.1.0', 'idle');
    const offered = node.offer(program);
    writeFileSync(node.target, program, { mode: 0o755 });
    expect(await node.up(offered, new Map(), REQUEST)).toBe('rolledBack');
    expect([node.command, node.installed]).toEqual([undefined, program]);
  });

  it('leaves the offered program where it has replaced another, and says so', async () => {
    const program = release('v1.1.0', 'idle');
    writeFileSync(node.target, release('v1.0.0'), { mode: 0o755 });
    expect(await node.up(node.offer(program), new Map(), REQUEST)).toBe('rolledBack');
    expect([node.command, node.installed]).toEqual([undefined, program]);
    const { reason } = JSON.parse(readFileSync(node.paths.result, 'utf8')) as { reason: string };
    expect(reason).toMatch(
      `; there is no service, as before; ${node.target} is the offered program`,
    );
  });

  it('leaves no program where there was none', async () => {
    const offered = node.offer(release('v1.1.0', 'idle'));
    expect(await node.up(offered, new Map(), REQUEST)).toBe('rolledBack');
    expect([node.command, node.installed]).toEqual([undefined, undefined]);
  });
});
