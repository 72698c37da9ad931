// Repeats the spec with the changes of FOR_THE_LONG_TIER.
import './config-changes.spec.js';
