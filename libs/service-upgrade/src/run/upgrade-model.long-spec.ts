import { testUpgradeModel } from '../testing/upgrade-model.js';

testUpgradeModel({ everyNth: 1, schedules: process.env['WINS_TEST_ALL'] === '1' ? 400 : 100 });
