import path from 'node:path';
import { canonicalPath } from '../index.js';

describe('the canonical spelling of a path', () => {
  it.each([
    ['c:/etc/rancher/wins/config', 'c:\\etc\\rancher\\wins\\config'],
    ['C:/etc\\rancher//wins', 'C:\\etc\\rancher\\wins'],
    ['C:\\\\etc\\/x', 'C:\\etc\\x'],
    ['C:\\etc\\', 'C:\\etc'],
    ['C:\\x\\..\\etc\\.\\y', 'C:\\etc\\y'],
    ['C:\\..\\..\\x', 'C:\\x'],
    ['c:/', 'c:\\'],
  ])('of %s is %s on Windows', (written, wanted) => {
    expect(canonicalPath(written, 'windows')).toBe(wanted);
  });

  it.each(['C:\\etc\\x.', 'C:\\etc\\x ', 'C:\\etc.\\x', 'C:\\PROGRA~1\\x', 'C:\\x.exe::$DATA'])(
    'leaves what a check must refuse: %s',
    (written) => expect(canonicalPath(written, 'windows')).toBe(written),
  );

  it('of a POSIX path keeps backslashes, and starts at the working directory', () => {
    expect(canonicalPath('//a/./b//c\\d/', 'posix')).toBe('/a/b/c\\d');
    expect(canonicalPath('x', 'posix')).toBe(path.posix.join(process.cwd(), 'x'));
  });
});
