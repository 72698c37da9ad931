import { commandWord, withGivenOptions } from '../index.js';

const given = { config: '/etc/w/config', server: 'n1' };

describe('the commands of an advice', () => {
  it.each([
    ['fix it (wins srv config check)', 'fix it (wins srv config check --config /etc/w/config)'],
    [
      'see wins srv plan status, and the log',
      'see wins srv plan status --config /etc/w/config, and the log',
    ],
    [
      '"wins srv network apply" restores it',
      '"wins srv network apply --config /etc/w/config" restores it',
    ],
    [
      'see its log (wins logs; /var/log)',
      'see its log (wins logs --config /etc/w/config; /var/log)',
    ],
    [
      'see wins cli prc logs keep:web; "wins cli prc start keep:web" starts it',
      'see wins cli prc logs keep:web --server n1; "wins cli prc start keep:web --server n1" starts it',
    ],
    ['wins doctor --config "/opt/an other"', 'wins doctor --config "/opt/an other"'],
    [
      'start it: wins srv app run --register',
      'start it: wins srv app run --register --config /etc/w/config',
    ],
    ['run "wins doctor".', 'run "wins doctor --config /etc/w/config".'],
    ['restart the daemon', 'restart the daemon'],
  ])('get the options of the command that gives it: %s', (advice, runnable) => {
    expect(withGivenOptions(advice, given)).toBe(runnable);
  });

  it('quote a file whose name needs it, also of Windows', () => {
    expect(withGivenOptions('wins doctor', { config: '/opt/an other' })).toBe(
      'wins doctor --config "/opt/an other"',
    );
    expect(withGivenOptions('wins doctor', { config: String.raw`c:\an other\w` })).toBe(
      String.raw`wins doctor --config "c:\an other\w"`,
    );
    expect(withGivenOptions('wins doctor', { config: String.raw`c:\etc\w` })).toBe(
      String.raw`wins doctor --config c:\etc\w`,
    );
  });

  it('have words in quotes only where a reader could take one for several, or for none', () => {
    const words = ['--x=1,2', String.raw`c:\tools\web.exe`, 'two words', '', 'a"b'];
    expect(words.map(commandWord).join(' ')).toBe(
      String.raw`--x=1,2 c:\tools\web.exe "two words" "" "a\"b"`,
    );
  });

  it('stay as they are for the usual file and the usual pipe', () => {
    const text = 'wins doctor; wins cli prc ls';
    expect(withGivenOptions(text, { server: 'rancher_wins' })).toBe(text);
  });
});
