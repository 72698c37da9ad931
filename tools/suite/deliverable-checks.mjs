// Checks that run what wins delivers beside its programs: packages for npm, the chart, the alerts and the dashboard.
import { missing as missingForChart } from '../chart/engine.mjs';
import { missing as missingForMonitoring } from '../monitoring/prometheus-programs.mjs';
import { check, checks } from './checks.mjs';
import { runSuite } from './run-suite.mjs';

// CI sets this variable: a missing program is then a failure, and no check is skipped.
const isRequired = process.env.WINS_REQUIRE_WINDOWS === '1';

/**
 * Needs the built libraries. A check whose program is missing here is skipped with a note.
 *
 * @param {(paths: RegExp) => boolean} isTouched - Whether a change concerns these paths. By default all are checked.
 * @returns {Promise<import('./report.mjs').Result[]>} Result of the chart's tests. The other checks count in `checks`.
 */
export async function checkDeliverables(isTouched = () => true) {
  if (isTouched(/^libs\/[^/]+\/package\.json$|^tools\/libraries\//))
    await check('packages', ['tools/libraries/check-packages.mjs'], { isBeside: true });
  if (isTouched(/metric|^deploy\/monitoring\/|^tools\/monitoring\//)) {
    await check('alerts and dashboard', ['tools/monitoring/check.mjs'], { isBeside: true });
    if (missingForMonitoring !== undefined && !isRequired)
      checks.notes.push(
        `THE ALERTS AND THE DASHBOARD WERE NOT EVALUATED: this needs ${missingForMonitoring}`,
      );
  }
  if (!isTouched(/^charts\/|^tools\/chart\/|^apps\/wins/)) return [];
  if (missingForChart === undefined || isRequired)
    return [
      await runSuite('chart', ['tools/chart/run-checks.mjs'], 'wins-chart', { isBeside: true }),
    ];
  checks.notes.push(`THE CHART WAS NOT CHECKED: this needs ${missingForChart}`);
  return [];
}
