import { freeMemoryTrimmer } from './free-memory.js';

const onLinux = process.platform === 'linux' ? it : it.skip;
if (process.platform !== 'linux')
  process.stderr.write('SKIPPED: free memory, which only Linux takes back\n');

onLinux(
  'gives free memory back to the system, as often as it is asked, where the C library can',
  () => {
    const trim = freeMemoryTrimmer();
    const isGnu =
      'glibcVersionRuntime' in (process.report.getReport() as { header: object }).header;
    expect(trim !== undefined).toBe(isGnu);
    for (let times = 0; times < 3; times += 1) trim?.();
  },
);
