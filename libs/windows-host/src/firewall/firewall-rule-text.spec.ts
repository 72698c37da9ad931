import { parseFirewallRule } from './firewall-rules.js';

const RULE = 'v2.30|Action=Allow|Active=TRUE|Dir=In|Protocol=6|LPort=80|Name=x|';

it('reads a rule that opens ports', () => {
  const text = RULE.replace('LPort=80', 'LPort=80|LPort=443|LPort2_10=8000-8010');
  expect(parseFirewallRule(text)).toEqual({
    name: 'x',
    opens: true,
    protocol: 6,
    ports: [
      { first: 80, last: 80 },
      { first: 443, last: 443 },
      { first: 8000, last: 8010 },
    ],
  });
});

it.each([
  ['is switched off', RULE.replace('TRUE', 'FALSE')],
  ['blocks', RULE.replace('Allow', 'Block')],
  ['is about what goes out', RULE.replace('Dir=In', 'Dir=Out')],
  ['does not say what it does', 'v2.30|Protocol=6|LPort=80|Name=x|'],
])('sees that a rule %s', (_what, text) => {
  expect(parseFirewallRule(text)?.opens).toBe(false);
});

it.each([
  ['any port', RULE.replace('LPort=80|', '')],
  ['a port in words', RULE.replace('LPort=80', 'LPort=RPC')],
  ['one more port in words', RULE.replace('LPort=80', 'LPort=80|LPort=RPC')],
])('does not take %s for ports', (_what, text) => {
  expect(parseFirewallRule(text)?.ports).toBeUndefined();
});

it('reads a rule for any protocol', () => {
  expect(parseFirewallRule(RULE.replace('Protocol=6|', ''))?.protocol).toBeUndefined();
});

it.each(['', 'x', 'Name=x', 'v2.30', RULE.replace('Name=x|', ''), RULE.replace('v2.30', 'v2')])(
  'finds no rule in %j',
  (text) => expect(parseFirewallRule(text)).toBeUndefined(),
);
