// Runs config-changes.spec.ts again, with the cases in FOR_THE_LONG_TIER too.
import './config-changes.spec.js';
