// Repeats the spec with every number of free pages.
import './upgrade-disks.spec.js';
