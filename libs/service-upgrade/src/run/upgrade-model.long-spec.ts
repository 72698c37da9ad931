import { testUpgradeModel } from '../testing/upgrade-model.js';

testUpgradeModel({ everyNth: 1, schedules: 400 });
