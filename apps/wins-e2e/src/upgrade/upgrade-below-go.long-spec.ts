// For each step in a sample, a Go daemon runs the upgrade helper, which is killed before this step.
import { sampleOf } from '../testing/sample.js';
import { stepsBelowGo, dieBelowGo } from '../testing/upgrade/crash-below-go.js';
import { GO_RELEASE } from '../testing/upgrade/node-with-go-daemon.js';
import { forEachOf } from '../testing/upgrade/upgrade-world.js';

it.each(['kills', 'leaves'] as const)(
  'a helper below a Go daemon that %s its runs, and that dies at any step, leaves one release that serves',
  async (whenStopped) => {
    const ends = new Set<string>();
    await forEachOf(sampleOf(await stepsBelowGo(), 4), async (step) => {
      ends.add(await dieBelowGo(step, whenStopped));
    });
    expect([...ends].sort()).toEqual([GO_RELEASE, 'v1.1.0']);
  },
);
