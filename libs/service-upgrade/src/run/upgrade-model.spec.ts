import { testUpgradeModel } from '../testing/upgrade-model.js';

testUpgradeModel({ everyNth: 8, schedules: 25 });
