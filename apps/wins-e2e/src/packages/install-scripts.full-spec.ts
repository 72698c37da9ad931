import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { packageFolder } from '../testing/packages/package-folder.js';

/** These tests only read the scripts, because there is no PowerShell here. The acceptance script of docs/windows.md runs the scripts. */
describe('the scripts that install and uninstall', () => {
  const read = (name: string) => readFileSync(path.join(packageFolder(), name), 'utf8');
  const install = read('wins-agent-install.ps1');
  const [head = '', body = ''] = install.split('function Invoke-WinsInstaller');

  it('take the parameters that Rancher passes, the script and its function alike', () => {
    const names = [
      'Address',
      'CaChecksum',
      'InternalAddress',
      'Label',
      'NodeName',
      'Server',
      'Taint',
      'Token',
      'Worker',
      'DelayedStart',
      'StrictTlsVerification',
    ];
    const parametersOf = (text: string): string[] =>
      [...(/param\(([^)]*)\)/.exec(text)?.[1] ?? '').matchAll(/\$(\w+)/g)].map(
        ([, name = '']) => name,
      );
    expect(parametersOf(head).sort()).toEqual([...names].sort());
    expect(parametersOf(body)).toEqual(parametersOf(head));
  });

  it('do not end before the lines that Rancher appends, unless something failed', () => {
    const exits = install.split('\n').filter((line) => /(^|\{) *(exit|return)\b/.test(line));
    expect(exits.map((line) => line.trim())).toEqual(['if ($exitCode -ne 0) { exit $exitCode }']);
    expect(install.trimEnd().endsWith('}')).toBe(true);
    expect(install.split('\n').length).toBeLessThan(80);
  });

  it('know the digest of the wins.exe that they are released with', () => {
    const wins = readFileSync(path.join(packageFolder(), 'wins.exe'));
    const digest = createHash('sha256').update(wins).digest('hex');
    expect(install).toContain(`$releasedChecksum = '${digest}'`);
  });

  it('accept only an address that curl reads as one address in its options file, without a user', () => {
    const [, pattern = ''] = /\$url -notmatch '\\A(.*)\\z'/.exec(install) ?? [];
    const isTaken = (url: string): boolean => new RegExp(`^${pattern}$(?!\n)`, 'i').test(url);
    const taken = [
      'https://a.b/assets/wins.exe',
      'https://[::1]:8443/x?sig=a%2Fb@c&x=$(y)',
      'https://a/b@c',
    ];
    expect(taken.map(isTaken)).toEqual([true, true, true]);
    const refused = [
      'http://a/x',
      'file:///c:/x',
      '-o c:\\x',
      'ftp://a/x',
      ' https://a/x',
      'https://',
      'https://user:canary@a/x',
      'https://user@a',
      'https://a/"\noutput = "c:/x',
      'https://a/"x',
      'https://a/x\n',
      'https://a/x y',
      'https://a\\b',
      'https://\u00e4/x',
      'https://a/\0',
    ];
    expect(refused.filter(isTaken)).toEqual([]);
  });

  it('let curl read no file of the user, and exactly one address, not as an argument', () => {
    expect(install).toMatch(/\$options = '-q', '-fsSL', '--globoff',/);
    const [call = ''] = /^\s*& \S*curl\.exe.*$/m.exec(install) ?? [];
    expect(call).toMatch(/@options -o \$wins --config \$asked\s*$/);
    expect(install).not.toMatch(/throw[^\n]*(\$url\b(?! -replace)|\$\{url\})/);
  });

  it('start nothing by a bare name, give no secret as an argument, and evaluate no text', () => {
    for (const text of [install, read('wins-agent-uninstall.ps1')]) {
      const started = [...text.matchAll(/^\s*& (\S+)(.*)$/gm)];
      for (const [, program, args] of started) {
        expect(program).toMatch(/^(\$wins|"\$env:SystemRoot\\System32\\curl\.exe")$/);
        expect(args).not.toMatch(/token/i);
      }
      expect(started.length).toBeGreaterThan(0);
      expect(text).not.toMatch(/Invoke-Expression|\biex\b|ScriptBlock\]::Create|-Command\b/i);
    }
  });
});
