import { versionFrom } from './host-version.js';
import type { RegistryValue } from './registry/registry.js';

const text = (value: string): RegistryValue => ({ type: 'text', value });
const number = (value: number): RegistryValue => ({ type: 'number', value });

it('gives numbers in digits and texts as they are', () => {
  const values = new Map([
    ['CurrentMajorVersionNumber', number(10)],
    ['CurrentMinorVersionNumber', number(0)],
    ['CurrentBuildNumber', text('17763')],
    ['ubr', number(5458)],
    ['ReleaseId', text('1809')],
    ['BuildLabEx', text('17763.1.amd64fre.rs5_release.180914-1434')],
    ['CurrentBuild', text('17763')],
    ['ProductName', text('Windows Server 2019 Datacenter')],
  ]);
  expect(versionFrom(values)).toEqual({
    currentMajorVersionNumber: '10',
    currentMinorVersionNumber: '0',
    currentBuildNumber: '17763',
    ubr: '5458',
    releaseId: '1809',
    buildLabEx: '17763.1.amd64fre.rs5_release.180914-1434',
    currentBuild: '17763',
  });
});

it('gives 0 for a number and nothing for a text that the registry does not hold', () => {
  expect(versionFrom(new Map())).toMatchObject({ ubr: '0', releaseId: '', buildLabEx: '' });
});

it('shows no value of a kind that it does not know', () => {
  const bytes: RegistryValue = { type: 'bytes', value: Buffer.from('x') };
  expect(versionFrom(new Map([['ReleaseId', bytes]]))).toMatchObject({ releaseId: '' });
});
