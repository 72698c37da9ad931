import type { TlsSettings, WinsConfig } from '@wins/config';
import { csiProxySettings } from './judge-settings.js';

type CsiProxySection = NonNullable<WinsConfig['csiProxy']>;

const DIGEST = 'a'.repeat(64);
const SECTION: CsiProxySection = {
  url: 'https://example.com/csi-proxy-%[1]s.tar.gz',
  version: 'v1.1.3',
  kubeletPath: 'C:/var/lib/rancher/rke2/bin/kubelet.exe',
};

function judged(section: Partial<CsiProxySection> = {}, trust: TlsSettings = {}) {
  return csiProxySettings(
    { csiProxy: { ...SECTION, ...section }, tlsConfig: trust },
    '/c',
    'win32',
  );
}
function faultsOf(section: Partial<CsiProxySection>, trust: TlsSettings = {}): string[] {
  const result = judged(section, trust);
  return result.kind === 'invalid'
    ? result.faults.map(({ keyPath, found, expected }) => `${keyPath}: ${found}; ${expected}`)
    : [];
}
function acceptedSettings(section: Partial<CsiProxySection> = {}, trust: TlsSettings = {}) {
  const result = judged(section, trust);
  if (result.kind !== 'wanted') throw new Error(JSON.stringify(result));
  return result;
}

describe('the section that Rancher writes', () => {
  it('is what a node is to have, in the folder of the config', () => {
    expect(acceptedSettings()).toEqual({
      kind: 'wanted',
      stateFolder: 'C:\\etc\\rancher\\wins\\csi-proxy',
      desired: {
        url: 'https://example.com/csi-proxy-v1.1.3.tar.gz',
        version: 'v1.1.3',
        args: [
          '-windows-service',
          '-log_file=C:\\etc\\rancher\\wins\\csi-proxy.log',
          '-logtostderr=false',
        ],
        folder: 'C:\\etc\\rancher\\wins\\csi-proxy',
        trust: {},
      },
      doubts: [],
    });
  });

  it('says nothing by the path of the kubelet, and something by its folder', () => {
    expect(acceptedSettings({ kubeletPath: 'C:/bin/Kubelet.EXE' }).desired.args).toHaveLength(3);
    expect(acceptedSettings({ kubeletPath: 'D:/kube let' }).desired.args[3]).toBe(
      '-kubelet-path=D:\\kube let',
    );
    expect(faultsOf({ kubeletPath: 'var/lib' })).toEqual([
      expect.stringMatching(/^csi-proxy\.kubeletPath: "var\/lib"; an absolute path/),
    ]);
    // A path without a drive would depend on the current drive.
    expect(faultsOf({ kubeletPath: '/var/lib/kubelet' })).toHaveLength(1);
  });

  it('may name a digest, arguments and a folder', () => {
    const { desired } = acceptedSettings({ sha256: DIGEST, args: ['-v=4'], path: 'D:/csi' });
    expect(desired).toMatchObject({ sha256: DIGEST, folder: 'D:\\csi' });
    expect(desired.args.at(-1)).toBe('-v=4');
  });
});

describe('the template of the address', () => {
  it.each([
    ['https://h/%s', 'https://h/v1.1.3'],
    ['https://h/%v', 'https://h/v1.1.3'],
    ['https://h/%[1]s/b/%[1]s.tgz', 'https://h/v1.1.3/b/v1.1.3.tgz'],
    ['https://h/%s/%[1]s', 'https://h/v1.1.3/v1.1.3'],
    ['https://h/%s/%%2F', 'https://h/v1.1.3/%2F'],
  ])('%s is %s', (url, wanted) => {
    expect(acceptedSettings({ url }).desired.url).toBe(wanted);
  });

  it.each([
    ['https://h/%2F%s', /"%2" at column 11; .*%%/],
    ['https://h/file', /no placeholder for the version in 14 columns/],
    ['https://h/%s/%s', /a second placeholder, %s, at column 14; %\[1\]s/],
    ['https://h/%[1]s/%v', /a second placeholder, %v, at column 17/],
    ['https://h/%d', /"%d" at column 11/],
    ['https://h/%[2]s', /"%\[2\]s" at column 11/],
    ['https://h/%s%', /"%" at column 13/],
    ['%s', /: not an address; an address/],
    ['https://me:secret@h:99999/%s', /: not an address; an address/],
    ['https://me:secret@h/%s', /a user or password/],
    ['http://h/%s', /the scheme http:; https:, or http: with csi-proxy\.sha256/],
    ['file:///c:/%s', /the scheme file:/],
  ])('%s is refused', (url, wanted) => {
    const faults = faultsOf({ url });
    expect(faults).toEqual([expect.stringMatching(wanted)]);
    expect(faults[0]).toMatch(/^csi-proxy\.url: /);
    expect(faults.join()).not.toContain('secret');
  });

  it('may be without protection when a digest decides', () => {
    expect(acceptedSettings({ url: 'http://h/%s', sha256: DIGEST }).desired.url).toBe(
      'http://h/v1.1.3',
    );
    expect(faultsOf({ url: 'file:///c:/%s', sha256: DIGEST })).toHaveLength(1);
  });
});

describe('the version', () => {
  it.each(['v2.0.0', '2.0.0-alpha.2', 'v10.0.0'])('%s has no program to install', (version) => {
    expect(faultsOf({ version })).toEqual([
      expect.stringMatching(/since v2 csi-proxy is a library/),
    ]);
  });

  it.each([
    'latest',
    'v1.1',
    '1.1.3.4',
    'v1.1.3/..',
    'v1.1.3 ',
    'v01.1.3',
    'v0.2.2',
    'v1.1.3-a..b',
  ])('%s is none', (version) => {
    expect(faultsOf({ version })).toEqual([expect.stringMatching(/^csi-proxy\.version: /)]);
  });

  it.each(['v1.0.0', 'v1.1.2', 'v1.1.3-rc.1'])('%s lets others run commands', (version) => {
    expect(acceptedSettings({ version }).doubts).toEqual([
      expect.objectContaining({ keyPath: 'csi-proxy.version', expected: 'v1.1.3 or later' }),
    ]);
  });

  it.each(['v1.1.3', '1.1.4-rc.1', 'v1.3.0'])('%s does not', (version) => {
    expect(acceptedSettings({ version }).doubts).toEqual([]);
  });
});

describe('added arguments', () => {
  it.each([
    ['-kubelet-path=C:\\', /^csi-proxy\.args\[0\]: -kubelet-path; kubeletPath, a folder/],
    ['--windows-service=false', /-windows-service; none/],
    ['-log_file=\\\\server\\x', /-log_file; none/],
    ['-exec=calc', /not a permitted flag of csi-proxy; one of .*-working-dir/],
    ['-v 4', /"-v 4"; one flag with its value, such as -v=4/],
    ['4', /one flag with its value/],
    ['-require-privacy=false', /which makes 1\.1\.3 exit; version v1\.2\.0 or later/],
  ])('%s is refused', (argument, wanted) => {
    expect(faultsOf({ args: [argument] })).toEqual([expect.stringMatching(wanted)]);
  });

  it('are known from some release on, and are whole', () => {
    const args = ['--require-privacy=false', '-working-dir=C:\\a b', '-metrics-bind-address=:1'];
    expect(acceptedSettings({ version: 'v1.3.0', args }).desired.args.slice(3)).toEqual(args);
    expect(faultsOf({ args: Array.from({ length: 65 }, () => '-v=1') })).toEqual([
      expect.stringMatching(/65 arguments; at most 64/),
    ]);
  });
});

describe('what vouches for a download', () => {
  it('is a certificate or a digest, and never neither', () => {
    expect(faultsOf({}, { insecure: true })).toEqual([
      expect.stringMatching(/^tls-config\.insecure: true without a digest; csi-proxy\.sha256/),
    ]);
    expect(acceptedSettings({ sha256: DIGEST }, { insecure: true }).desired.trust).toEqual({
      insecure: true,
    });
    expect(acceptedSettings({}, { insecure: false, certFilePath: 'C:\\ca' }).desired.trust).toEqual(
      {
        insecure: false,
        certFilePath: 'C:\\ca',
      },
    );
  });

  it('is no relative file', () => {
    expect(faultsOf({}, { certFilePath: 'ca.pem' })).toEqual([
      expect.stringMatching(/^tls-config\.certFilePath: /),
    ]);
    expect(faultsOf({ path: 'csi' })).toEqual([expect.stringMatching(/^csi-proxy\.path: /)]);
  });
});
