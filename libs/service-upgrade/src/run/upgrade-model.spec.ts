import { testUpgradeModel } from '../testing/upgrade-model.js';

testUpgradeModel({ everyNth: 4, schedules: 50 });
