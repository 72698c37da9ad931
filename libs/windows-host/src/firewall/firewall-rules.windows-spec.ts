import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { firewallRules, registryRuleTexts } from './firewall-rules.js';
import { RegistryKey } from '../registry/registry.js';
import { isWine } from '../testing/is-wine.js';

const RUN = process.pid.toString(16).padStart(32, '0');
const OTHER = process.pid.toString(16).padStart(32, 'f');
const ports = [
  { protocol: 'tcp', port: 50_080 },
  { protocol: 'tcp', port: 50_081 },
  { protocol: 'udp', port: 50_053 },
] as const;

describe('the firewall', () => {
  it('opens the ports of a run and closes them, or says that netsh did not', async () => {
    const rules = firewallRules();
    // Wine's netsh.exe does nothing and reports success.
    if (isWine()) {
      await assert.rejects(rules.open(RUN, ports), {
        code: 'notVerified',
        message:
          /netsh reported success, but the rules differ: found \[\]; wanted \[tcp 50080-50081; udp 50053\]/,
      });
      return;
    }
    await rules.open(RUN, ports);
    const opened = rules.list().find(({ mark }) => mark === RUN);
    assert.deepEqual(opened?.rules, ['tcp 50080-50081', 'udp 50053']);
    await rules.close(RUN);
    assert.equal(
      rules.list().some(({ mark }) => mark === RUN),
      false,
    );
  });

  it('ends netsh when it is told to give up', async () => {
    const signal = AbortSignal.abort(new Error('the client is gone'));
    await assert.rejects(firewallRules().open(RUN, ports, { signal }), /the client is gone/);
  });
});

describe('firewall rules in the registry', () => {
  const path = `SOFTWARE\\wins firewall spec ${process.pid}`;
  const key = RegistryKey.create(path);
  after(() => {
    key.close();
    RegistryKey.deleteTree(path);
  });
  const put = (value: string, name: string) =>
    key.set(value, {
      type: 'text',
      value: `v2.30|Action=Allow|Active=TRUE|Dir=In|Protocol=6|LPort=80|Name=${name}|`,
    });
  /** Deletes rules by their name, as netsh does. */
  const netsh = (args: readonly string[]) => {
    assert.deepEqual(args.slice(0, 4), ['advfirewall', 'firewall', 'delete', 'rule']);
    for (const [value, entry] of key.values()) {
      const name = args[4]?.replace('name=', '|Name=') ?? '';
      if (entry.type === 'text' && entry.value.includes(`${name}|`)) key.delete(value);
    }
    return Promise.resolve();
  };

  it('are swept, but for those of living runs and of strangers', async () => {
    put('{1}', `rancher-wins-${RUN}`);
    put('{2}', `rancher-wins-${RUN}`);
    put('{3}', `rancher-wins-${OTHER}`);
    put('{4}', 'rancher-wins-nginx-TCP-80');
    key.set('{5}', { type: 'number', value: 1 });
    const rules = firewallRules({
      ruleTexts: () => registryRuleTexts(path),
      netsh,
      settle: () => Promise.resolve(),
    });

    assert.deepEqual(await rules.sweep([OTHER]), [RUN]);
    assert.deepEqual([...key.values().keys()].sort(), ['{3}', '{4}', '{5}']);
    assert.deepEqual(rules.list(), [{ mark: OTHER, rules: ['tcp 80'] }]);
  });

  it('are none where there is no such key', () => {
    assert.deepEqual(registryRuleTexts(`${path}\\none`), []);
  });
});
